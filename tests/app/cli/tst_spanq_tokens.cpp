// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq export --to tokens`: the whole way from a query's text to prompt ids.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <nlohmann/json.hpp>

#include <map>

using namespace spanscope::test;
using spanscope::product_text::says;
using Json = nlohmann::json;

namespace {

const std::string kSpanlet = SPANSCOPE_SOURCE_DIR "/resources/models/spanlet";
const std::string kRag = SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json";

}  // namespace

class TestSpanqTokens : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void goldenRows();
  void childrenBeginAtBlocks();
  void writesEachCallThatCanBeSent();
  void refuses_data();
  void refuses();
};

void TestSpanqTokens::goldenRows() {
  QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/engine/spnl/data/spnl-layout.jsonl"));
  QVERIFY2(file.open(QIODevice::ReadOnly), "the golden rows are missing");
  // Known by the first id of the generation prompt.
  const std::map<int, std::string> templates{{1, "spnl-granite"}, {3, "spnl-chatml"}, {5, "spnl-llama-3"}};
  int rows = 0;
  while (!file.atEnd()) {
    const Json row = Json::parse(file.readLine().toStdString());
    std::vector<std::string> arguments{"export",
                                       "--to",
                                       "tokens",
                                       "--tokenizer",
                                       SPANSCOPE_TEST_DATA_DIR "/spnl-tokenizer",
                                       "--template",
                                       templates.at(row["generation_prompt_ids"][0].get<int>()),
                                       "--block",
                                       std::to_string(row["block"].get<int>()),
                                       "--pad",
                                       std::to_string(row["pad"].get<int>())};
    for (const char* marker : {"plus", "cross"}) {
      if (row[marker].is_null()) continue;
      arguments.push_back(std::string("--") + marker);
      arguments.push_back(std::to_string(row[marker].get<int>()));
    }
    arguments.emplace_back("-");
    const SpanqResult result = spanq(arguments, row["query"].dump());
    QVERIFY2(result.code == 0, (row["id"].get<std::string>() + ": " + result.err).c_str());
    const Json expected = row.contains("ids_per_input") ? row["ids_per_input"] : row["ids"];
    QVERIFY2(Json::parse(result.out)["ids"] == expected, row["id"].get<std::string>().c_str());
    ++rows;
  }
  QCOMPARE(rows, 220);
}

void TestSpanqTokens::childrenBeginAtBlocks() {
  const SpanqResult result =
      spanq({"export", "--to", "tokens", "--tokenizer", kSpanlet, "--pad", "3", "--plus", "5", kRag});
  QCOMPARE(result.code, 0);
  const std::vector<int> ids = Json::parse(result.out)["ids"].get<std::vector<int>>();
  std::size_t markers = 0;
  for (std::size_t i = 0; i < ids.size(); i += 16) markers += ids[i] == 5 ? 1 : 0;
  QVERIFY(markers >= 3);
}

void TestSpanqTokens::writesEachCallThatCanBeSent() {
  const SpanqResult result = spanq({"export", "--to", "tokens", "--tokenizer", kSpanlet, "--pad", "3",
                                    SPANSCOPE_SOURCE_DIR "/resources/queries/judge-4.json"});
  QCOMPARE(result.code, 0);
  QCOMPARE(std::count(result.out.begin(), result.out.end(), '\n'), 1);
  QVERIFY2(result.err.find("not contain this") != std::string::npos, result.err.c_str());
}

void TestSpanqTokens::refuses_data() {
  using Arguments = std::vector<std::string>;
  QTest::addColumn<Arguments>("arguments");
  QTest::addColumn<int>("code");
  QTest::addColumn<QString>("part");
  QTest::newRow("no tokenizer") << Arguments{"--pad", "3"} << 2 << "this form needs --tokenizer and --pad";
  QTest::newRow("no padding") << Arguments{"--tokenizer", kSpanlet} << 2
                              << "this form needs --tokenizer and --pad";
  QTest::newRow("stage") << Arguments{"--tokenizer", kSpanlet, "--pad", "3", "--stage", "simplified"} << 2
                         << "<tokens-as-read>";
  QTest::newRow("id beyond the vocabulary")
      << Arguments{"--tokenizer", kSpanlet, "--pad", "3", "--plus", "2048"} << 2
      << "--plus: Spanscope found 2048, but needs an id from 0 to 2047";
  QTest::newRow("unknown template") << Arguments{"--tokenizer", kSpanlet, "--pad", "3", "--template", "none"}
                                    << 2 << "chatml";
  QTest::newRow("no such folder") << Arguments{"--tokenizer", "/nowhere", "--pad", "3"} << 1 << "/nowhere";
}

void TestSpanqTokens::refuses() {
  QFETCH(std::vector<std::string>, arguments);
  QFETCH(int, code);
  QFETCH(QString, part);
  arguments.insert(arguments.begin(), {"export", "--to", "tokens"});
  arguments.push_back(kRag);
  const SpanqResult result = spanq(arguments);
  QCOMPARE(result.code, code);
  QVERIFY2(says(result.err, part), result.err.c_str());
  QVERIFY(result.out.empty());
}

SPANSCOPE_TEST(tst_spanq_tokens, TestSpanqTokens)
#include "tst_spanq_tokens.moc"
