// SPDX-License-Identifier: GPL-3.0-or-later
// What other servers' caches would find, through the command.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QString>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

using spanscope::product_text::says;
using spanscope::product_text::worded;
using spanscope::test::spanq;
using spanscope::test::SpanqResult;
using Scenario = nlohmann::json;

namespace {

std::vector<Scenario> scenariosIn(const std::string& text) {
  std::vector<Scenario> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(Scenario::parse(line));
  return objects;
}

void withoutFindings(Scenario& value, const std::vector<std::string>& names) {
  if (value.is_object())
    for (const std::string& name : names) value.erase(name);
  if (value.is_structured())
    for (Scenario& inner : value) withoutFindings(inner, names);
}

std::string packedBytes(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

}  // namespace

class TestSpanqSimulator : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void recorded_data();
  void recorded();
  void lineForLine();
  void traces_data();
  void traces();
  void queriesAsATrace();
  void mistakes_data();
  void mistakes();
  void aServerIsWanted();

 private:
  QTemporaryDir m_folder;
};

void TestSpanqSimulator::recorded_data() {
  QTest::addColumn<QString>("server");
  QTest::addColumn<QString>("file");
  QTest::addColumn<int>("count");
  const QString golden = SPANSCOPE_GOLDEN_DIR;
  const QString own = SPANSCOPE_SOURCE_DIR "/tests/engine/simulator/data";
  QTest::newRow("vLLM") << "vllm" << golden + "/vllm/kv-cache-manager.jsonl.gz" << 120;
  QTest::newRow("llama.cpp") << "llama.cpp" << golden + "/llama-server/completions.jsonl.gz" << 40;
  QTest::newRow("SGLang") << "sglang" << own + "/sglang.jsonl.gz" << 120;
}

/// With what was found, from the packed file; and without it, as text on standard input.
void TestSpanqSimulator::recorded() {
  QFETCH(QString, server);
  QFETCH(QString, file);
  QFETCH(int, count);
  if (!QFile::exists(file)) QSKIP("the golden data is missing");
  const SpanqResult packed = spanq({"simulate", server.toStdString(), file.toStdString()});
  QVERIFY2(packed.code == 0, packed.err.c_str());
  QCOMPARE(packed.err, std::string());
  std::vector<Scenario> scenarios = scenariosIn(packed.out);
  QCOMPARE(int(scenarios.size()), count);
  std::string text;
  for (Scenario& scenario : scenarios) {
    withoutFindings(scenario, {"cached", "refused", "hit_blocks", "new_blocks", "hashes", "free_blocks",
                               "events", "ok", "blocks", "slot", "cache_n", "prompt_n", "evicted",
                               "free_tokens", "evictable", "protected", "tokens_evaluated", "tokens_cached"});
    text += scenario.dump() + "\n";
  }
  // The number of blocks of the pool has the name of those of a step.
  const std::vector<Scenario> whole = scenariosIn(packed.out);
  if (server == "vllm") {
    text.clear();
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      scenarios[i]["blocks"] = whole[i]["blocks"];
      text += scenarios[i].dump() + "\n";
    }
  }
  const SpanqResult stripped = spanq({"simulate", server.toStdString(), "-"}, text);
  QVERIFY2(stripped.code == 0, stripped.err.c_str());
  QVERIFY(scenariosIn(stripped.out) == whole);
  // What comes out is what was recorded.
  const SpanqResult again = spanq({"simulate", server.toStdString(), "-"}, packedBytes(file));
  QCOMPARE(again.out, packed.out);
}

void TestSpanqSimulator::lineForLine() {
  const std::string scenario = R"({"block_size":2,"blocks":9,"ops":[{"op":"reset"}],"x":1})";
  const std::string found =
      R"({"block_size":2,"blocks":9,"ops":[{"op":"reset","ok":true,"events":[{"cleared":true}]}],"x":1})";
  const SpanqResult result = spanq({"simulate", "vllm", "-"}, scenario + "\r\n\n  \n" + scenario);
  QCOMPARE(result.code, 0);
  QCOMPARE(result.out, found + "\n\n\n" + found + "\n");
  QCOMPARE(spanq({"simulate", "vllm", "-"}, "").out, std::string());
}

void TestSpanqSimulator::traces_data() {
  QTest::addColumn<QString>("server");
  QTest::addColumn<QString>("scenario");
  QTest::addColumn<QString>("found");
  QTest::addColumn<QString>("setup");
  QTest::newRow("vLLM")
      << "vllm"
      << R"({"block_size":2,"blocks":9,"ops":[{"op":"admit","request":"a","prompt":[1,2,3,4,5]},)"
         R"({"op":"free","request":"a"},{"op":"admit","request":"b","prompt":[1,2,3,9,9]}]})"
      << "segment 0, block 0: hit, 2 of 2 tokens"
      << "blocks of 2 tokens";
  QTest::newRow("SGLang")
      << "sglang"
      << R"({"tokens":40,"page_size":2,"ops":[{"op":"admit","request":"a","prompt":[1,2,3,4,5]},)"
         R"({"op":"free","request":"a"},{"op":"admit","request":"b","prompt":[1,2,3,9,9]}]})"
      << "segment 0, block 0: hit, 2 of 2 tokens"
      << "pages of 2 tokens";
  QTest::newRow("llama.cpp")
      << "llama.cpp"
      << R"({"slots":1,"context":512,"requests":[{"request":{"prompt":[1,2,3,4,5]},"tokens":[6]},)"
         R"({"request":{"prompt":[1,2,3,9,9]},"tokens":[6]}]})"
      << "segment 0, block 2: hit, 1 of 1 token"
      << "one slot";
}

/// The trace that a file of one scenario gives, or the line of one with more.
void TestSpanqSimulator::traces() {
  QFETCH(QString, server);
  QFETCH(QString, scenario);
  QFETCH(QString, found);
  QFETCH(QString, setup);
  const std::string name = server.toStdString();
  const std::string text = scenario.toStdString();
  const std::string path = m_folder.filePath("told.trace").toStdString();
  const SpanqResult reported = spanq({"simulate", name, "-", "--trace", path}, text);
  QVERIFY2(reported.code == 0, reported.err.c_str());
  QCOMPARE(reported.out, spanq({"simulate", name, "-"}, text).out);
  const std::string shown = spanq({"trace", "show", path}).out;
  QVERIFY2(shown.find(found.toStdString()) != std::string::npos, shown.c_str());
  QVERIFY2(shown.find("(cache simulator)") != std::string::npos, shown.c_str());
  QVERIFY2(shown.find(setup.toStdString()) != std::string::npos, shown.c_str());
  QVERIFY2(shown.find("request_admitted run 1 request 2 /par/1: 5 prompt tokens") != std::string::npos,
           shown.c_str());
  const std::string two = text + "\n" + text;
  QFile::remove(m_folder.filePath("told.trace"));
  const SpanqResult which = spanq({"simulate", name, "-", "--trace", path}, two);
  QCOMPARE(which.code, 1);
  QVERIFY2(which.err.find("Spanscope found 2 scenarios, but needs one") != std::string::npos,
           which.err.c_str());
  QVERIFY(!QFile::exists(m_folder.filePath("told.trace")));
  QCOMPARE(spanq({"simulate", name, "-", "--trace", path, "--line", "2"}, two).code, 0);
  QCOMPARE(spanq({"trace", "show", path}).out, shown);
  QCOMPARE(spanq({"simulate", name, "-", "--trace", path, "--line", "3"}, two).code, 1);
  QCOMPARE(spanq({"simulate", name, "-", "--line", "2"}, two).code, 2);
}

/// What explain says of another server, as a trace with a run for each query.
void TestSpanqSimulator::queriesAsATrace() {
  const std::string rag = SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json";
  const std::string path = m_folder.filePath("queries.trace").toStdString();
  const SpanqResult plain = spanq({"explain", "--as", "vllm", rag, rag});
  const SpanqResult reported = spanq({"explain", "--as", "vllm", "--trace", path, rag, rag});
  QVERIFY2(reported.code == 0, reported.err.c_str());
  QCOMPARE(reported.out, plain.out);
  const std::string shown = spanq({"trace", "show", path, "--only", "request_admitted,run_started"}).out;
  QVERIFY2(shown.find("run_started run 2: policy vLLM, predicted") != std::string::npos, shown.c_str());
  QVERIFY2(shown.find("request 1 /g: 83 prompt tokens, 0 cached") != std::string::npos ||
               shown.find("request 1: 83 prompt tokens, 0 cached") != std::string::npos,
           shown.c_str());
  QVERIFY2(shown.find("83 prompt tokens, 80 cached") != std::string::npos, shown.c_str());
  QCOMPARE(spanq({"explain", "--trace", path, rag}).code, 2);
}

void TestSpanqSimulator::mistakes_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("message");
  const QString good = R"({"block_size":2,"blocks":9,"ops":[]})"
                       "\n";
  QTest::newRow("no JSON") << good + "nonsense\n"
                           << "line 2: Spanscope found <mistake-byte> 2, but needs JSON\n";
  QTest::newRow("a field") << good + "\n" + R"({"block_size":"2","blocks":9,"ops":[]})"
                           << "line 3: /block_size: Spanscope found \"2\"";
  QTest::newRow("a field inside") << R"({"block_size":2,"blocks":9,"ops":[{"op":"admit","prompt":[1]}]})"
                                  << "line 1: /ops/0: Spanscope found no \"request\", but needs a value\n";
  QTest::newRow("no gzip") << QString::fromLatin1("\x1f\x8b") << "byte 2: Spanscope found ";
}

void TestSpanqSimulator::mistakes() {
  QFETCH(QString, text);
  QFETCH(QString, message);
  const QString path = m_folder.filePath("scenarios.jsonl");
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text.toLatin1());
  file.close();
  const SpanqResult result = spanq({"simulate", "vllm", path.toStdString()});
  QCOMPARE(result.code, 1);
  const QString said = QString::fromStdString(result.err);
  QVERIFY2(said.startsWith(path + ": " + worded(message)), qPrintable(said));
}

void TestSpanqSimulator::aServerIsWanted() {
  QCOMPARE(spanq({"simulate"}).code, 2);
  QCOMPARE(spanq({"simulate", "ollama", "-"}).code, 2);
  QCOMPARE(spanq({"simulate", "vllm"}).code, 2);
  const SpanqResult none = spanq({"simulate", "sglang", m_folder.filePath("none").toStdString()});
  QCOMPARE(none.code, 1);
  QVERIFY2(says(none.err, "<file-does-not-exist>"), none.err.c_str());
}

SPANSCOPE_TEST(tst_spanq_simulator, TestSpanqSimulator, QCoreApplication)
#include "tst_spanq_simulator.moc"
