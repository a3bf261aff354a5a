// SPDX-License-Identifier: GPL-3.0-or-later
// Every command of spanq, run in this process: exit codes, what goes where, and the form of errors.
#include "engine/policy/policies.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QRegularExpression>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using spanscope::product_text::says;
using spanscope::product_text::worded;
using spanscope::test::spanq;
using spanscope::test::SpanqResult;
using Json = nlohmann::ordered_json;

class TestSpanqCommands : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void helpShowsAnExample_data();
  void helpShowsAnExample();
  void devicesSayWhatTheyAre();
  void aDeviceIsChosenByName();
  void usageMistakesExitWithTwo_data();
  void usageMistakesExitWithTwo();
  void wrongInputExitsWithOne_data();
  void wrongInputExitsWithOne();
  void errorsHaveFileLineColumnAndPointer();
  void warningsDoNotRefuse();
  void validateAgreesWithTheReference();
  void exportWritesTheReferencesCanonicalForm();
  void exportRefusesWhatServersCannotRead();
  void explainNamesRulesAndSteps();
  void explainWithoutDistributionNeedsNoClosure();
  void planErrorsPointIntoTheFile();
  void settingsReachTheQuery();
  void runIsRepeatable();
  void runWritesTextAndTable();
  void promptThatDoesNotFitFailsTheRun();
  void nounsGoWithTheirNumbers_data();
  void nounsGoWithTheirNumbers();
  void stoppedRunExitsWith130();
  void stopAnswersInTheMiddleOfARun();
  void unwritableTraceFailsTheRun();
  void traceIsReadBack();
  void attentionBeyondItsLimitIsLeftOut();
  void cutTraceIsReadUpToTheCut();
  void notATraceIsRefused();
  void modelShowSaysWhatTheModelIs();
  void modelLogitsWritesAnArrayAPosition();
  void segmentsChangeLogits();
  void benchAbbaFindsEveryDocument();
  void benchRunCountsEveryCase();
  void benchSpeedReportsShares();
  void warnsOfAQueryForAnotherModel();
  void spansOnAnUntrainedCheckpointWarn();
  void unknownChatTemplateIsChosen();
  void jinjaRendersTheTemplate();
  void aLongerContextIsOpened();

 private:
  QTemporaryDir m_folder;

  std::string write(const char* name, const QByteArray& text) {
    const QString path = m_folder.filePath(name);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size()) return {};
    return path.toStdString();
  }
  std::string inFolder(const char* name) { return m_folder.filePath(name).toStdString(); }
};

namespace {

const std::string kQueries = SPANSCOPE_SOURCE_DIR "/resources/queries/";
const std::string kModel = SPANSCOPE_SOURCE_DIR "/resources/models/spanlet";

std::vector<Json> jsonLines(const QString& path) {
  std::vector<Json> lines;
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return lines;
  while (!file.atEnd()) lines.push_back(Json::parse(file.readLine().toStdString()));
  return lines;
}

std::size_t lineCount(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

void TestSpanqCommands::helpShowsAnExample_data() {
  QTest::addColumn<QStringList>("command");
  QTest::newRow("spanq") << QStringList{};
  for (const char* command : {"validate", "explain", "run", "export", "trace", "trace show", "trace stats",
                              "trace sources", "model", "model list", "model show", "model logits", "bench",
                              "bench run", "bench abba", "bench speed", "bench ops", "devices"}) {
    QTest::newRow(command) << QString(command).split(' ');
  }
}

void TestSpanqCommands::helpShowsAnExample() {
  QFETCH(QStringList, command);
  std::vector<std::string> arguments;
  for (const QString& word : command) arguments.push_back(word.toStdString());
  arguments.emplace_back("--help");
  const SpanqResult result = spanq(arguments);
  QCOMPARE(result.code, 0);
  QCOMPARE(result.err, std::string());
  const QString example = "spanq " + command.join(' ');
  QVERIFY2(QString::fromStdString(result.out).contains(QRegularExpression("Examples?:\n  " + example)),
           result.out.c_str());
}

void TestSpanqCommands::usageMistakesExitWithTwo_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::newRow("no command") << QStringList{};
  QTest::newRow("unknown command") << QStringList{"fly"};
  QTest::newRow("unknown option") << QStringList{"run", "--fly", "a.json"};
  QTest::newRow("no file") << QStringList{"run"};
  QTest::newRow("unknown policy") << QStringList{"run", "--policy", "magic", "a.json"};
  QTest::newRow("setting without a value") << QStringList{"run", "a.json", "--set", "name"};
  QTest::newRow("number that is none") << QStringList{"run", "--seed", "x", "a.json"};
  QTest::newRow("negative threads") << QStringList{"run", "--threads", "-1", "a.json"};
  QTest::newRow("unknown target") << QStringList{"export", "--to", "latin", "a.json"};
  QTest::newRow("no target") << QStringList{"export", "a.json"};
  QTest::newRow("group without a command") << QStringList{"trace"};
  QTest::newRow("shape and model") << QStringList{"bench", "abba", "--shape", "3m", "--model", "x"};
  QTest::newRow("unknown shape") << QStringList{"bench", "speed", "--shape", "7b"};
}

void TestSpanqCommands::usageMistakesExitWithTwo() {
  QFETCH(QStringList, arguments);
  std::vector<std::string> words;
  for (const QString& word : arguments) words.push_back(word.toStdString());
  const SpanqResult result = spanq(words);
  QCOMPARE(result.code, 2);
  QCOMPARE(result.out, std::string());
  QVERIFY(!result.err.empty());
}

void TestSpanqCommands::wrongInputExitsWithOne_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::newRow("missing file") << QStringList{"validate", "/nowhere/a.json"};
  QTest::newRow("folder as a file") << QStringList{"explain", "/"};
  QTest::newRow("missing model") << QStringList{"model", "show", "/nowhere"};
  QTest::newRow("missing model to run on")
      << QStringList{"run", "--model", "/nowhere", QString::fromStdString(kQueries + "rag.json")};
  QTest::newRow("missing trace") << QStringList{"trace", "stats", "/nowhere/a.trace"};
}

void TestSpanqCommands::wrongInputExitsWithOne() {
  QFETCH(QStringList, arguments);
  std::vector<std::string> words;
  for (const QString& word : arguments) words.push_back(word.toStdString());
  const SpanqResult result = spanq(words);
  QCOMPARE(result.code, 1);
  QCOMPARE(result.out, std::string());
  QCOMPARE(lineCount(result.err), std::size_t{1});
}

void TestSpanqCommands::errorsHaveFileLineColumnAndPointer() {
  const std::string file =
      write("two-errors.json", "{\"seq\": [\n  {\"user\": 1},\n  {\"sytem\": \"x\"}\n]}\n");
  for (const char* command : {"validate", "explain", "run"}) {
    const SpanqResult result = spanq({command, file});
    QCOMPARE(result.code, 1);
    const QStringList lines = QString::fromStdString(result.err).split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 2);
    const QString name = QRegularExpression::escape(QString::fromStdString(file));
    QVERIFY2(QRegularExpression("^" + name + ":2:\\d+: /seq/0/user: .+").match(lines[0]).hasMatch(),
             qPrintable(lines[0]));
    QVERIFY2(QRegularExpression("^" + name + ":3:\\d+: /seq/1(/sytem)?: .+").match(lines[1]).hasMatch(),
             qPrintable(lines[1]));
  }
}

void TestSpanqCommands::warningsDoNotRefuse() {
  const SpanqResult result = spanq({"validate", "-"}, R"({"plus":[]})");
  QCOMPARE(result.code, 0);
  QVERIFY(result.err.find("standard input:1:") == 0);
  QVERIFY(result.err.find("warning: ") != std::string::npos);
}

void TestSpanqCommands::validateAgreesWithTheReference() {
  const auto rows = jsonLines(SPANSCOPE_GOLDEN_DIR "/spnl/json.jsonl");
  if (rows.empty()) QSKIP("the golden data is not there");
  std::size_t accepted = 0;
  for (const Json& row : rows) {
    if (!row["accepted"].get<bool>()) continue;
    const SpanqResult result = spanq({"validate", "-"}, row["text"].get<std::string>());
    const std::string id = row["id"].get<std::string>();
    // They name a temperature beyond all numbers, and documents that are not there: every run refuses them.
    const bool isRefused = id == "edge-036" || id == "random-1-0077" || id == "random-1-0250";
    QVERIFY2((result.code == 0) != isRefused, (id + ": " + result.err).c_str());
    ++accepted;
  }
  QVERIFY(accepted > 100);
}

void TestSpanqCommands::exportWritesTheReferencesCanonicalForm() {
  const SpanqResult result = spanq({"export", "--to", "spnl", "-"}, R"( {"g": {"input": {"user": "hi"},
      "model": "spnl/m"}} )");
  QCOMPARE(result.code, 0);
  QCOMPARE(QString::fromStdString(result.out),
           QString(R"({"g":{"model":"spnl/m","max_tokens":0,"temperature":0.6,"input":{"user":"hi"}}})"
                   "\n"));
}

void TestSpanqCommands::exportRefusesWhatServersCannotRead() {
  const SpanqResult result = spanq({"export", "--to", "spnl", "-"}, R"({"seq":[{"ask":"Who?"}]})");
  QCOMPARE(result.code, 1);
  QCOMPARE(result.out, std::string());
  QVERIFY2(result.err.find("standard input:1:9: /seq/0: ") == 0, result.err.c_str());
}

void TestSpanqCommands::explainNamesRulesAndSteps() {
  const SpanqResult result = spanq({"explain", kQueries + "judge-2.json"});
  QCOMPARE(result.code, 0);
  for (const char* words : {"distribute plus", "Step 2", "needs step 0, step 1"}) {
    QVERIFY2(result.out.find(words) != std::string::npos, words);
  }
}

void TestSpanqCommands::explainWithoutDistributionNeedsNoClosure() {
  const SpanqResult result = spanq({"explain", "--no-distribute", kQueries + "judge-2.json"});
  QCOMPARE(result.code, 0);
  QVERIFY(result.out.find("distribute plus") == std::string::npos);
}

void TestSpanqCommands::planErrorsPointIntoTheFile() {
  const SpanqResult result =
      spanq({"explain", "-"}, "{\"g\": {\"model\": \"m\",\n  \"input\": {\"ask\": \"Who?\"}}}");
  QCOMPARE(result.code, 1);
  QVERIFY2(result.err.find("standard input:2:12: /g/input: ") == 0, result.err.c_str());
}

void TestSpanqCommands::settingsReachTheQuery() {
  const std::string text =
      R"({"g":{"model":"{model}","max_tokens":"{limit}","input":{"user":"Where does {who} live?"}}})";
  const SpanqResult without = spanq({"export", "--to", "spnl", "-"}, text);
  QCOMPARE(without.code, 1);
  const SpanqResult with = spanq(
      {"export", "--to", "spnl", "--set", "limit=7", "--set", "model=spnl/x", "--set", "who=Mira=Nadia", "-"},
      text);
  QCOMPARE(with.code, 0);
  const Json json = Json::parse(with.out);
  QCOMPARE(json["g"]["max_tokens"].get<int>(), 7);
  QCOMPARE(json["g"]["model"].get<std::string>(), std::string("spnl/x"));
  QCOMPARE(json["g"]["input"]["user"].get<std::string>(), std::string("Where does Mira=Nadia live?"));
}

void TestSpanqCommands::runIsRepeatable() {
  const auto texts = [](const char* seed) {
    const SpanqResult result = spanq({"run", "--json", "--seed", seed, kQueries + "judge-4.json"});
    std::vector<std::string> found;
    const Json json = Json::parse(result.out);
    for (const Json& step : json["runs"][0]["steps"]) found.push_back(step["text"]);
    return found;
  };
  QCOMPARE(texts("1"), texts("1"));
  QVERIFY(texts("1") != texts("2"));
}

void TestSpanqCommands::runWritesTextAndTable() {
  const SpanqResult result = spanq({"run", kQueries + "rag.json"});
  QCOMPARE(result.code, 0);
  QCOMPARE(result.err, std::string());  // no progress where no terminal is
  const QString out = QString::fromStdString(result.out);
  QVERIFY(out.startsWith("The pet of Tarek is Biscuit.\n"));
  QVERIFY(out.contains(QRegularExpression("step +node +prompt +cached +relocated +.*computed +generated")));
  QVERIFY(out.contains("relocated hits: "));
  QVERIFY(out.contains("block attention"));
}

void TestSpanqCommands::promptThatDoesNotFitFailsTheRun() {
  const SpanqResult result = spanq({"run", "--blocks", "3", kQueries + "rag.json"});
  QCOMPARE(result.code, 3);
  QVERIFY2(result.err.starts_with(kQueries + "rag.json: error: "), result.err.c_str());
  // Nothing was admitted, so there is nothing to put into a table.
  QVERIFY2(result.out.find("ended by") == std::string::npos, result.out.c_str());
}

void TestSpanqCommands::nounsGoWithTheirNumbers_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QByteArray>("query");
  QTest::addColumn<QString>("said");
  const QByteArray otto = R"({"g":{"model":"m","max_tokens":9,"input":{"user":"Where does Otto live?"}}})";
  const QByteArray brief = R"({"repeat":{"n":2,"g":{"model":"m","max_tokens":1,"input":{"user":"A"}}}})";
  const auto row = [](const char* name, const QStringList& arguments, const QByteArray& query,
                      const char* said) { QTest::newRow(name) << arguments << query << QString(said); };
  row("pool one block too small", {"run", "--blocks", "8", QString::fromStdString(kQueries + "rag.json")}, {},
      "<pool-has> 7 usable blocks: 1 block (about 16 tokens) ");
  row("pool of one block", {"run", "--blocks", "2", "--block-size", "4", "-"}, otto,
      "needs 2 blocks of 4 tokens. <pool-has> 1 usable block: 1 block (about 4 tokens) ");
  row("pool one token too small", {"run", "--blocks", "8", "--block-size", "1", "-"}, otto,
      "<pool-has> 7 usable blocks: 1 block (about 1 token) ");
  row("reply beyond one block", {"run", "--blocks", "2", "--block-size", "8", "-"}, otto,
      "<reply-ends-within> 1 usable block <that-the-pool>\n");
  row("step of one token", {"explain", "-"}, brief, "model m, at most 1 token, temperature");
  row("step of many tokens", {"explain", "-"}, otto, "model m, at most 9 tokens, temperature");
  row("tree with one token", {"explain", "-"}, brief, "repeat 2 m, at most 1 token\n");
  row("graph with one token", {"explain", "--dot", "-"}, brief, "at most 1 token, temperature");
  row("message of one token", {"explain", "-"}, brief, "longest prompt  1 token of messages\n");
  row("messages of many tokens", {"explain", "-"}, otto, "longest prompt  6 tokens of messages\n");
  row("unit in JSON", {"explain", "--json", "-"}, brief, R"("text_unit": "tokens")");
  row("blocks of one token", {"explain", "--predict", "--block-size", "1", "--blocks", "9", "-"}, otto,
      "9 blocks of 1 token, empty at first\n");
  row("segments of one id",
      {"model", "logits", QString::fromStdString(kModel), "--ids", "5", "--segments", "i2"}, {},
      "<lengths-add-up> 1 id\n");
}

void TestSpanqCommands::nounsGoWithTheirNumbers() {
  QFETCH(QStringList, arguments);
  QFETCH(QByteArray, query);
  QFETCH(QString, said);
  std::vector<std::string> words;
  for (const QString& word : arguments) words.push_back(word.toStdString());
  const SpanqResult result = spanq(words, query.toStdString());
  const QString text = QString::fromStdString(result.out + result.err);
  QVERIFY2(says(text, said), qPrintable(text));
}

void TestSpanqCommands::stoppedRunExitsWith130() {
  std::stop_source stop;
  stop.request_stop();
  QCOMPARE(spanq({"run", kQueries + "rag.json"}, {}, stop.get_token()).code, 130);
  QCOMPARE(spanq({"bench", "abba", "--sizes", "16"}, {}, stop.get_token()).code, 130);
  QCOMPARE(spanq({"bench", "run", kQueries + "rag.json"}, {}, stop.get_token()).code, 130);
  QCOMPARE(spanq({"bench", "speed", "-p", "16", "-n", "0"}, {}, stop.get_token()).code, 130);
}

void TestSpanqCommands::stopAnswersInTheMiddleOfARun() {
  // Far more jobs than fit between the two: 255 answers with a temperature that is too high for an early end.
  const std::string query = R"({"plus":[{"repeat":{"n":255,"g":{"model":"spnl/spanlet","max_tokens":2000,
      "temperature":5,"input":{"user":"Where does Otto live?"}}}}]})";
  const std::string trace = inFolder("stopped.trace");
  std::stop_source stop;
  std::atomic<std::int64_t> stoppedAt = 0;
  QElapsedTimer clock;
  clock.start();
  const std::jthread interrupt([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    stoppedAt = clock.elapsed();
    stop.request_stop();
  });
  const SpanqResult result =
      spanq({"run", "--blocks", "40000", "--trace", trace, "-"}, query, stop.get_token());
  QCOMPARE(result.code, 130);
  QVERIFY2(clock.elapsed() - stoppedAt < 2000, qPrintable(QString::number(clock.elapsed() - stoppedAt)));
  // What was recorded until then is a whole trace.
  QCOMPARE(spanq({"trace", "stats", trace}).code, 0);
}

void TestSpanqCommands::unwritableTraceFailsTheRun() {
  const SpanqResult result = spanq({"run", "--trace", "/nowhere/a.trace", kQueries + "rag.json"});
  QCOMPARE(result.code, 3);
  QCOMPARE(lineCount(result.err), std::size_t{1});
}

void TestSpanqCommands::traceIsReadBack() {
  const std::string file = inFolder("run.trace");
  QCOMPARE(spanq({"run", "--observe", "0,5", "--trace", file, kQueries + "rag.json",
                  kQueries + "rag-swapped.json"})
               .code,
           0);
  const SpanqResult stats = spanq({"trace", "stats", "--json", file});
  QCOMPARE(stats.code, 0);
  const Json sums = Json::parse(stats.out);
  QCOMPARE(sums["runs"].get<int>(), 2);
  QVERIFY(sums["blocks_relocated"].get<int>() > 0);
  // The account adds up to the prompt; the engine's own sums stay beside it.
  const Json& account = sums["account"];
  int whole = 0;
  for (const char* part : {"hit", "relocated", "computed_again", "computed", "unread"})
    whole += account[part].get<int>();
  QCOMPARE(whole, account["prompt"].get<int>());
  // Swapped documents share no full block with the prompt before.
  QCOMPARE(account["prefix_equivalent"].get<int>(), 0);
  QVERIFY(account["hit"].get<int>() + account["relocated"].get<int>() > 0);
  const Json twice =
      Json::parse(spanq({"run", "--json", kQueries + "rag.json", kQueries + "rag.json"}).out)["runs"];
  const auto counted = [&twice](std::size_t run, const char* key) {
    return twice[run]["steps"][0]["account"][key].get<int>();
  };
  QCOMPARE(counted(0, "prefix_equivalent"), 0);
  QCOMPARE(counted(1, "prefix_equivalent"), (counted(1, "prompt") - 1) / 16 * 16);
  QVERIFY(sums["cached_tokens"].is_number());
  QCOMPARE(sums["errors"].get<int>(), 0);
  QVERIFY(spanq({"trace", "stats", file}).out.find("relocated") != std::string::npos);

  const SpanqResult show = spanq({"trace", "show", "--json", file});
  QCOMPARE(show.code, 0);
  QCOMPARE(lineCount(show.out), sums["events"].get<std::size_t>());
  const SpanqResult some =
      spanq({"trace", "show", "--json", "--only", "attention_mass", "--count", "3", file});
  QCOMPARE(lineCount(some.out), std::size_t{3});
  const Json event = Json::parse(some.out.substr(0, some.out.find('\n')));
  QCOMPARE(event["event"].get<std::string>(), std::string("attention_mass"));
  const SpanqResult later = spanq({"trace", "show", "--json", "--from", "10", "--count", "1", file});
  QCOMPARE(Json::parse(later.out)["sequence"].get<int>(), 10);
}

void TestSpanqCommands::attentionBeyondItsLimitIsLeftOut() {
  QByteArray text;
  for (int i = 0; i < 600; ++i) text += "Mira lives in Lisbon. ";
  const std::string query =
      write("long.json", "{\"g\":{\"model\":\"m\",\"max_tokens\":2,\"input\":{\"user\":\"" + text + "\"}}}");
  const std::string file = inFolder("limited.trace");
  const auto sums = [&](const char* limit) {
    const SpanqResult run = spanq({"run", "--observe", "0,1,2,3,4,5", "--attention", "heads",
                                   "--observe-limit", limit, "--trace", file, query});
    return run.code == 0 ? Json::parse(spanq({"trace", "stats", "--json", file}).out) : Json();
  };
  QCOMPARE(sums("64")["attention_left_out"].get<int>(), 0);
  const int missing = sums("1")["attention_left_out"].get<int>();
  QVERIFY(missing > 0);
  const SpanqResult said = spanq({"trace", "show", "--only", "attention_left_out", file});
  QVERIFY2(said.out.find(": " + std::to_string(missing) + " records ") != std::string::npos,
           said.out.c_str());
  QVERIFY(said.out.find(": limit of 1 MiB per run\n") != std::string::npos);
}

void TestSpanqCommands::cutTraceIsReadUpToTheCut() {
  const std::string whole = inFolder("whole.trace");
  QCOMPARE(spanq({"run", "--trace", whole, kQueries + "rag.json"}).code, 0);
  QFile file(QString::fromStdString(whole));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QByteArray bytes = file.readAll();
  const SpanqResult result = spanq({"trace", "show", write("cut.trace", bytes.left(bytes.size() - 9))});
  QVERIFY(result.code == 0 || result.code == 1);
  QCOMPARE(lineCount(result.err), std::size_t{1});
}

void TestSpanqCommands::notATraceIsRefused() {
  const SpanqResult result = spanq({"trace", "show", kQueries + "rag.json"});
  QCOMPARE(result.code, 1);
  QCOMPARE(lineCount(result.err), std::size_t{1});
  QCOMPARE(result.out, std::string());
}

void TestSpanqCommands::modelShowSaysWhatTheModelIs() {
  const SpanqResult result = spanq({"model", "show", "--json", kModel});
  QCOMPARE(result.code, 0);
  const Json json = Json::parse(result.out);
  QCOMPARE(json["parameters"].get<int>(), 1443456);
  QCOMPARE(json["block_attention"].get<bool>(), true);
  QCOMPARE(json["kv_type"].get<std::string>(), std::string("f32"));
  QVERIFY(spanq({"model", "show", kModel + "/"}).out.find("spanlet") != std::string::npos);
}

void TestSpanqCommands::devicesSayWhatTheyAre() {
  const SpanqResult result = spanq({"devices", "--json"});
  QCOMPARE(result.code, 0);
  bool hasProcessor = false;
  const Json json = Json::parse(result.out);
  for (const Json& device : json["devices"]) {
    if (device["is_usable"].get<bool>()) {
      QVERIFY(!device["description"].get<std::string>().empty());
      QVERIFY(device["memory_bytes"].get<std::uint64_t>() > 0);
    } else {
      QVERIFY(!device["obstacle"].get<std::string>().empty());
    }
    hasProcessor = hasProcessor || device["device"] == "cpu";
  }
  QVERIFY(hasProcessor);
  QVERIFY(spanq({"devices"}).out.find("cuda") != std::string::npos);
}

void TestSpanqCommands::aDeviceIsChosenByName() {
  const std::string query = kQueries + "rag.json";
  const SpanqResult chosen = spanq({"run", "--device", "cpu", query});
  QCOMPARE(chosen.code, 0);
  QVERIFY(chosen.out.find("Biscuit") != std::string::npos);
  // One of several of a kind is known to the machine alone, what is no name of one to everybody.
  const SpanqResult second = spanq({"run", "--device", "cuda:1", query});
  QCOMPARE(second.code, 1);
  QVERIFY2(second.err.find("device: Spanscope found \"cuda:1\"") != std::string::npos, second.err.c_str());
  for (const char* name : {"cuda:", "cuda:x", "cpu:1", "auto:0", "gpu"})
    QCOMPARE(spanq({"run", "--device", name, query}).code, 2);
  QCOMPARE(spanq({"model", "show", "--device", "cpu", kModel}).code, 0);
  // The processor's results are bit-identical anyway: to ask for it changes nothing.
  const SpanqResult exact = spanq({"run", "--device", "cpu", "--exact", query});
  QCOMPARE(exact.code, 0);
  QVERIFY(exact.out.find("Biscuit") != std::string::npos);
  const SpanqResult absent = spanq({"run", "--device", "cuda", "--exact", query});
  QCOMPARE(absent.code, 1);
  QVERIFY2(absent.err.find("device: Spanscope found cuda (left out of this test)") != std::string::npos,
           absent.err.c_str());
  const SpanqResult unknown = spanq({"run", "--device", "tpu", query});
  QCOMPARE(unknown.code, 2);
  QVERIFY2(unknown.err.find("\"tpu\", but needs auto, cpu or cuda") != std::string::npos,
           unknown.err.c_str());
}

void TestSpanqCommands::modelLogitsWritesAnArrayAPosition() {
  const SpanqResult result = spanq({"model", "logits", kModel, "--ids", "5,300,301,7,6"});
  QCOMPARE(result.code, 0);
  std::istringstream lines(result.out);
  std::string line;
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    QCOMPARE(Json::parse(line).size(), std::size_t{2048});
    ++count;
  }
  QCOMPARE(count, std::size_t{5});
}

void TestSpanqCommands::segmentsChangeLogits() {
  const auto rows = [](const char* segments) {
    std::vector<std::string> lines;
    std::istringstream text(
        spanq({"model", "logits", kModel, "--ids", "5,300,7,5,300,7,6", "--segments", segments}).out);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  };
  const std::vector<std::string> full = rows("d7");
  const std::vector<std::string> spans = rows("i3,i3,d1");
  QCOMPARE(spans.size(), std::size_t{7});
  QCOMPARE(spans[2], full[2]);   // the first segment sees the same either way
  QVERIFY(spans[5] != full[5]);  // the second does not
  QCOMPARE(spans[3], spans[0]);  // and equals the first, since it has the same tokens
}

void TestSpanqCommands::benchAbbaFindsEveryDocument() {
  const SpanqResult result = spanq({"bench", "abba", "--sizes", "16,40", "--documents", "3", "--repeats", "2",
                                    "--seconds", "0", "--cold-repeats", "1", "--json"});
  QCOMPARE(result.code, 0);
  const Json json = Json::parse(result.out);
  QCOMPARE(json["rows"].size(), std::size_t{2});
  for (const Json& row : json["rows"]) {
    const auto expected = row["expected_cached_tokens"].get<int>();
    QCOMPARE(row["cold_ms"]["cached_tokens"].get<int>(), 0);
    QCOMPARE(row["same_order_ms"]["cached_tokens"].get<int>(), expected);
    QCOMPARE(row["swapped_order_ms"]["cached_tokens"].get<int>(), expected);
    QCOMPARE(row["swapped_order_ms"]["samples"].size(), std::size_t{2});
    QVERIFY(row["swapped_to_same"].get<double>() > 0);
    QCOMPARE(row["question_alone_ms"]["cached_tokens"].get<int>(), 0);
    QCOMPARE(row["question_alone_ms"]["samples"].size(), std::size_t{2});
    const double alone = row["question_alone_ms"]["median"].get<double>();
    const double read = row["keys_and_values_read_ms"].get<double>();
    const double swapped = row["swapped_order_ms"]["median"].get<double>();
    QVERIFY(alone > 0 && read > 0);
    QVERIFY(std::abs(row["swapped_to_floor"].get<double>() - swapped / (alone + read)) < 1e-9);
  }
}

void TestSpanqCommands::benchRunCountsEveryCase() {
  const SpanqResult result = spanq({"bench", "run", "--repeats", "3", "--json", kQueries + "rag.json"});
  QVERIFY2(result.code == 0, result.err.c_str());
  const Json json = Json::parse(result.out);
  QCOMPARE(json["turns"].get<int>(), 3);
  QCOMPARE(json["cases"].size(), std::size_t{4});
  const auto computed = [&json](std::size_t index) {
    const Json& found = json["cases"][index];
    return found["ttft_ms"]["samples"].size() == 3 ? found["computed_tokens"]["most"].get<int>() : -1;
  };
  QCOMPARE(computed(0), 83);
  QCOMPARE(computed(1), 1);
  QCOMPARE(computed(2), 13);
  QCOMPARE(computed(3), 13);
  QVERIFY(json["cases"][2]["relocated_tokens"]["least"].get<int>() > 0);
  QCOMPARE(json["cases"][2]["other_answers"].get<int>(), 0);
  QVERIFY(json["cases"][2]["cold_to_this"].get<double>() > 0);

  const SpanqResult chat = spanq({"bench", "run", "--repeats", "1", kQueries + "chat.json"});
  QVERIFY2(chat.code == 0, chat.err.c_str());
  const QString text = QString::fromStdString(chat.out);
  QVERIFY2(text.contains("same order"), qPrintable(text));
  QVERIFY2(text.contains(worded("no swapped: <no-plus-stands>")), qPrintable(text));
  QVERIFY2(text.contains(worded("no floor: <no-plus-stands>")), qPrintable(text));
}

void TestSpanqCommands::benchSpeedReportsShares() {
  const SpanqResult result =
      spanq({"bench", "speed", "-p", "32", "-n", "4", "-d", "0,20", "-r", "1", "--json"});
  QCOMPARE(result.code, 0);
  const Json json = Json::parse(result.out);
  QCOMPARE(json["rows"].size(), std::size_t{4});
  QCOMPARE(json["rows"][3]["test"].get<std::string>(), std::string("tg4 @ d20"));
  for (const Json& row : json["rows"]) {
    QVERIFY(row["tokens_per_second"]["median"].get<double>() > 0);
    QVERIFY(row["machine_flops_per_second"].get<double>() > 0);
    QVERIFY(row["machine_bytes_per_second"].get<double>() > 0);
    QVERIFY(row["share_of_limit"].get<double>() > 0);
  }
}

void TestSpanqCommands::warnsOfAQueryForAnotherModel() {
  const SpanqResult result = spanq({"run", "-"}, R"({"g":{"model":"ollama/granite3.3:2b","max_tokens":1,
      "input":{"user":"Where does Otto live?"}}})");
  QCOMPARE(result.code, 0);
  QVERIFY2(result.err.find("warning: ") == 0, result.err.c_str());
}

void TestSpanqCommands::spansOnAnUntrainedCheckpointWarn() {
  const QDir source(QString::fromStdString(kModel));
  QVERIFY(QDir(m_folder.path()).mkpath("untrained"));
  for (const QString& name : source.entryList(QDir::Files)) {
    QVERIFY(QFile::copy(source.filePath(name), m_folder.filePath("untrained/" + name)));
  }
  QFile config(m_folder.filePath("untrained/config.json"));
  QVERIFY(config.open(QIODevice::ReadOnly));
  QByteArray text = config.readAll();
  config.close();
  QVERIFY(text.contains("\"block_attention\": true"));
  QVERIFY(config.remove());
  write("untrained/config.json", text.replace("\"block_attention\": true", "\"block_attention\": false"));

  // The model's own policy is exact, and chosen.
  const SpanqResult usual = spanq({"run", "--json", "--model", inFolder("untrained"), kQueries + "rag.json"});
  QCOMPARE(usual.code, 0);
  QCOMPARE(Json::parse(usual.out)["policy"].get<std::string>(), std::string("prefix"));
  QVERIFY2(usual.err.starts_with("note: "), usual.err.c_str());
  QVERIFY2(usual.err.find(spanscope::policy::untrainedAdvice()) == std::string::npos, usual.err.c_str());
  const SpanqResult spans =
      spanq({"run", "--model", inFolder("untrained"), "--policy", "spans", kQueries + "rag.json"});
  QCOMPARE(spans.code, 0);
  QVERIFY2(spans.err.find("block attention") != std::string::npos, spans.err.c_str());
  const SpanqResult prefix =
      spanq({"run", "--model", inFolder("untrained"), "--policy", "prefix", kQueries + "rag.json"});
  QVERIFY2(prefix.err.find("block attention") == std::string::npos, prefix.err.c_str());
}

/// LongRoPE has another table of divisors for longer contexts.
void TestSpanqCommands::aLongerContextIsOpened() {
  const std::string phi = SPANSCOPE_SOURCE_DIR "/tests/engine/model/data/phi3_long";
  const SpanqResult usual = spanq({"model", "show", phi});
  QVERIFY2(usual.out.find("context                 40\n") != std::string::npos, usual.out.c_str());
  const SpanqResult longer = spanq({"model", "show", "--context", "64", phi});
  QVERIFY2(longer.out.find("context                 256\n") != std::string::npos, longer.out.c_str());
  QVERIFY2(longer.out.find("for more than 40 tokens") != std::string::npos, longer.out.c_str());
}

void TestSpanqCommands::unknownChatTemplateIsChosen() {
  const QDir source(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  QVERIFY(QDir(m_folder.path()).mkpath("foreign"));
  for (const QString& name : source.entryList(QDir::Files))
    QVERIFY(QFile::copy(source.filePath(name), m_folder.filePath("foreign/" + name)));
  const std::string model = m_folder.filePath("foreign").toStdString();
  QVERIFY(QFile::setPermissions(m_folder.filePath("foreign/tokenizer_config.json"),
                                QFile::ReadOwner | QFile::WriteOwner));
  std::ofstream(model + "/tokenizer_config.json") << R"({"chat_template": "{{ 'nobody knows' }}"})";

  const SpanqResult refused = spanq({"run", "--model", model, kQueries + "rag.json"});
  QCOMPARE(refused.code, 1);
  for (const char* words :
       {"tokenizer_config.json", "nobody knows", "spanlet, ", "llama-3, ", "--template NAME"})
    QVERIFY2(refused.err.find(words) != std::string::npos, words);
  const SpanqResult answered =
      spanq({"run", "--model", model, "--template", "spanlet", kQueries + "rag.json"});
  QVERIFY2(answered.code == 0, answered.err.c_str());
  QVERIFY(answered.out.find("The pet of Tarek is Biscuit.") == 0);
  const SpanqResult wrong = spanq({"run", "--model", model, "--template", "nobody", kQueries + "rag.json"});
  QCOMPARE(wrong.code, 2);
  QVERIFY(wrong.err.find("\"nobody\"") != std::string::npos &&
          wrong.err.find("granite-3") != std::string::npos);

  // A model can be looked at all the same.
  const SpanqResult shown = spanq({"model", "show", model});
  QCOMPARE(shown.code, 0);
  for (const char* words : {"chat template           not known", "The template:\n\n{{ 'nobody knows' }}\n",
                            "<tokenizer-pieces> spanlet"})
    QVERIFY2(says(shown.out, words), shown.out.c_str());
  const SpanqResult chosen = spanq({"model", "show", "--template", "chatml", model});
  QVERIFY(chosen.out.find("chatml, as chosen") != std::string::npos);

  // A template with markers of a known template is shown unchanged too, unless the user has chosen one.
  std::ofstream(model + "/tokenizer_config.json")
      << R"({"chat_template": "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' }}"})";
  const SpanqResult marked = spanq({"model", "show", model});
  for (const char* words : {"chatml, recognized ",
                            "<known-marks-alone>. The template:\n"
                            "\n"
                            "{{ '<|im_start|>' + message.role"})
    QVERIFY2(says(marked.out, words), marked.out.c_str());
  const SpanqResult settled = spanq({"model", "show", "--template", "chatml", model});
  QVERIFY(settled.out.find("It says:") == std::string::npos);
  const SpanqResult warned = spanq({"run", "--model", model, kQueries + "rag.json"});
  QVERIFY(says(warned.err, "<warning-chat-template> foreign <not-known-marks> chatml."));
}

/// The same tokens give the same answer and the same counts.
void TestSpanqCommands::jinjaRendersTheTemplate() {
  const SpanqResult byTable = spanq({"run", kQueries + "rag.json"});
  const SpanqResult byJinja = spanq({"run", "--template", "jinja", kQueries + "rag.json"});
  if (says(byJinja.err, "<install-jinja>")) QSKIP("the Debian package python3-jinja2 is not here");
  QVERIFY2(byJinja.code == 0, byJinja.err.c_str());
  // Times differ from run to run.
  const auto withoutTimes = [](const SpanqResult& result) {
    static const QRegularExpression time(QStringLiteral("\\s+\\d+\\.\\d+"));
    return QString::fromStdString(result.out).remove(time);
  };
  QCOMPARE(withoutTimes(byJinja), withoutTimes(byTable));
  const SpanqResult tokens = spanq({"explain", "--predict", kQueries + "judge-2.json"});
  const SpanqResult sameTokens =
      spanq({"explain", "--predict", "--template", "jinja", kQueries + "judge-2.json"});
  QVERIFY2(sameTokens.code == 0, sameTokens.err.c_str());
  QCOMPARE(sameTokens.out, tokens.out);

  const QDir source(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  QVERIFY(QDir(m_folder.path()).mkpath("polite"));
  for (const QString& name : source.entryList(QDir::Files))
    QVERIFY(QFile::copy(source.filePath(name), m_folder.filePath("polite/" + name)));
  const std::string model = m_folder.filePath("polite").toStdString();
  std::ofstream(model + "/chat_template.jinja")
      << "{% for m in messages %}{% if refuse and m.role == refuse %}{{ raise_exception('no ' + refuse) }}"
         "{% endif %}<|{{ m.role }}|> {{ m.content }}<|end|>{% endfor %}"
         "{{ '<|assistant|>' if add_generation_prompt }}";
  const SpanqResult answered = spanq({"run", "--model", model, kQueries + "rag.json"});
  QCOMPARE(withoutTimes(answered).replace("on polite,", "on spanlet,"), withoutTimes(byTable));
  const SpanqResult refused = spanq(
      {"run", "--model", model, "--template-variables", R"({"refuse": "system"})", kQueries + "rag.json"});
  QCOMPARE(refused.code, 3);
  QVERIFY2(refused.err.find("no system") != std::string::npos, refused.err.c_str());
  const SpanqResult damaged =
      spanq({"run", "--model", model, "--template-variables", "[1]", kQueries + "rag.json"});
  QCOMPARE(damaged.code, 1);
  QVERIFY2(damaged.err.find("template variables") != std::string::npos, damaged.err.c_str());
}

SPANSCOPE_TEST(tst_spanq_commands, TestSpanqCommands, QCoreApplication)
#include "tst_spanq_commands.moc"
