// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq explain --predict` against what `spanq run` then reports.
#include "engine/simulator/servers.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <tuple>

using namespace spanscope::test;
using spanscope::product_text::says;
using Json = nlohmann::json;

namespace {

const std::string kQueries = SPANSCOPE_SOURCE_DIR "/resources/queries/";
const std::vector<std::string> kCounts = {"prompt", "cached", "relocated", "computed"};

bool holds(const std::string& text, const std::string& words) {
  return says(text, words);
}

std::vector<std::string> joined(std::vector<std::string> words, const QStringList& options,
                                const QStringList& files) {
  for (const QString& option : options) words.push_back(option.toStdString());
  for (const QString& file : files) words.push_back(kQueries + file.toStdString());
  return words;
}

/// The predictions of `spanq explain --json --predict`, which writes an object a query.
std::vector<Json> predictionsIn(const std::string& text) {
  std::vector<Json> predictions;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find("\n}\n", begin) + 3;
    predictions.push_back(Json::parse(text.substr(begin, end - begin)).at("prediction"));
    begin = end;
  }
  return predictions;
}

bool isWithin(const Json& range, std::int64_t count) {
  return range.at("least").get<std::int64_t>() <= count && count <= range.at("most").get<std::int64_t>();
}

}  // namespace

class TestSpanqPredict : public QObject {
  Q_OBJECT

  static void compare(const std::string& explained, const std::string& ran);

 private Q_SLOTS:
  void equalsTheRuns_data();
  void equalsTheRuns();
  void boundsHoldTheRun_data();
  void boundsHoldTheRun();
  void textSaysAll();
  void whyNamesChangesThatDo();
  void failuresAreForetold();
  void documentsAreForetoldWithTheirOwnSettings();
  void weightsAreNotNeeded();
  void anAdapterChoosesThePolicy();
  void otherServers_data();
  void otherServers();
  void otherServersSayWhy();
  void bestOrderHasItsNote();
  void lengthsOfAnswers();
  void wrongOptions_data();
  void wrongOptions();
};

void TestSpanqPredict::equalsTheRuns_data() {
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QStringList>("files");
  const QStringList rag{"rag.json", "rag-swapped.json"};
  QTest::newRow("swapped documents") << QStringList{} << rag;
  QTest::newRow("prefix") << QStringList{"--policy", "prefix"} << rag;
  QTest::newRow("small blocks") << QStringList{"--block-size", "4"} << rag;
  QTest::newRow("the same twice") << QStringList{} << QStringList{"rag.json", "rag.json"};
  QTest::newRow("padded") << QStringList{"--layout", "padded"} << rag;
  QTest::newRow("cropped, small blocks") << QStringList{"--layout", "cropped", "--block-size", "4"} << rag;
  QTest::newRow("linked beginnings") << QStringList{"--policy", "link"} << rag;
  QTest::newRow("blended") << QStringList{"--policy", "blend(0.5)"} << rag;
  QTest::newRow("blended, the same twice")
      << QStringList{"--policy", "blend"} << QStringList{"rag.json", "rag.json"};
  QTest::newRow("blended whole, cropped")
      << QStringList{"--policy", "blend(1)", "--layout", "cropped"} << rag;
  QTest::newRow("hidden prefixes, padded")
      << QStringList{"--policy", "shared-prefix", "--layout", "padded"} << rag;
  QTest::newRow("limited replies") << QStringList{"--max-tokens", "3"}
                                   << QStringList{"chat.json", "chat.json"};
}

void TestSpanqPredict::equalsTheRuns() {
  QFETCH(QStringList, options);
  QFETCH(QStringList, files);
  const SpanqResult explained = spanq(joined({"explain", "--json", "--predict"}, options, files));
  QVERIFY2(explained.code == 0, explained.err.c_str());
  const SpanqResult ran = spanq(joined({"run", "--json"}, options, files));
  QVERIFY2(ran.code == 0, ran.err.c_str());
  compare(explained.out, ran.out);
}

/// The counts of every step that `explain` predicted are the counts of the runs.
void TestSpanqPredict::compare(const std::string& explained, const std::string& ran) {
  const std::vector<Json> predictions = predictionsIn(explained);
  const Json runs = Json::parse(ran).at("runs");
  QCOMPARE(predictions.size(), runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Json& steps = predictions[i].at("steps");
    QCOMPARE(steps.size(), runs[i].at("steps").size());
    for (std::size_t step = 0; step < steps.size(); ++step) {
      QCOMPARE(steps[step].at("doubt").get<std::string>(), std::string("none"));
      for (const std::string& count : kCounts) {
        const auto actual = runs[i].at("steps")[step].at(count).get<std::int64_t>();
        QCOMPARE(steps[step].at(count).at("least").get<std::int64_t>(), actual);
        QCOMPARE(steps[step].at(count).at("most").get<std::int64_t>(), actual);
      }
      const Json& said = steps[step].at("account");
      const Json& account = runs[i].at("steps")[step].at("account");
      const auto counted = [&account](const char* count) { return account.at(count).get<std::int64_t>(); };
      // Of tokens at another position a policy may recompute some. The choice depends on their values.
      QVERIFY(isWithin(said.at("relocated"), counted("relocated")));
      if (counted("computed_again") == 0) QCOMPARE(said.at("relocated").at("least"), account.at("relocated"));
      for (const char* count : {"prompt", "computed_again", "computed", "beside"}) {
        QCOMPARE(said.at(count).at("least").get<std::int64_t>(), counted(count));
        QCOMPARE(said.at(count).at("most").get<std::int64_t>(), counted(count));
      }
      QCOMPARE(said.at("cached").at("least").get<std::int64_t>(), counted("hit") + counted("relocated"));
      QCOMPARE(said.at("cached").at("most").get<std::int64_t>(), counted("hit") + counted("relocated"));
      for (const char* count : {"padding", "delimiters", "cropped"})
        QCOMPARE(said.at(count).get<std::int64_t>(), counted(count));
      QCOMPARE(counted("prompt"), counted("hit") + counted("relocated") + counted("computed_again") +
                                      counted("computed") + counted("unread"));
    }
  }
}

/// The policy, layout, model and cache settings of a document apply to its prediction as to its run.
void TestSpanqPredict::documentsAreForetoldWithTheirOwnSettings() {
  const QTemporaryDir folder;
  std::vector<std::string> files;
  for (const char* policy : {"prefix", "spans"}) {
    QFile query(QString::fromStdString(kQueries + "rag.json"));
    QVERIFY(query.open(QIODevice::ReadOnly));
    const Json document = {{"spanscope", {{"version", 1}}},
                           {"query", Json::parse(query.readAll().toStdString())},
                           {"settings", {{"policy", policy}, {"block_size", 8}, {"blocks", 300}}}};
    files.push_back(folder.filePath(QString::fromUtf8(policy) + ".span").toStdString());
    QFile file(QString::fromStdString(files.back()));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(document.dump()));
  }
  const SpanqResult explained = spanq({"explain", "--json", "--predict", files[0], files[1]});
  QVERIFY2(explained.code == 0, explained.err.c_str());
  const SpanqResult ran = spanq({"run", "--json", files[0], files[1]});
  QVERIFY2(ran.code == 0, ran.err.c_str());
  compare(explained.out, ran.out);
  const SpanqResult reported = spanq({"explain", "--predict", files[0], files[1]});
  QVERIFY2(holds(reported.out, "policy prefix on spanlet, 300 blocks of 8 tokens"), reported.out.c_str());
  QVERIFY2(holds(reported.out, "policy spans on spanlet, 300 blocks of 8 tokens"), reported.out.c_str());
  const SpanqResult chosen = spanq({"explain", "--predict", "--policy", "link", files[0]});
  QVERIFY2(holds(chosen.out, "policy link"), chosen.out.c_str());
}

void TestSpanqPredict::boundsHoldTheRun_data() {
  QTest::addColumn<QStringList>("files");
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<int>("doubted");  // a step of the last file
  QTest::addColumn<QString>("doubt");
  const QStringList judge{"judge-2.json"};
  QTest::newRow("two candidates") << judge << QStringList{} << 2 << "holds_reply";
  QTest::newRow("outputs only") << judge << QStringList{"--no-distribute"} << 2 << "holds_reply";
  QTest::newRow("padded") << judge << QStringList{"--layout", "padded"} << 2 << "holds_reply";
  QTest::newRow("cropped") << judge << QStringList{"--layout", "cropped", "--block-size", "4"} << 2
                           << "holds_reply";
  QTest::newRow("attention locality")
      << QStringList{"judge-4.json"} << QStringList{"--locality", "2"} << 6 << "holds_reply";
  QTest::newRow("room for one only") << QStringList{"rag.json", "rag-swapped.json"}
                                     << QStringList{"--blocks", "14"} << 0 << "full_pool";
}

void TestSpanqPredict::boundsHoldTheRun() {
  QFETCH(QStringList, files);
  QFETCH(QStringList, options);
  QFETCH(int, doubted);
  QFETCH(QString, doubt);
  options << "--seed"
          << "2";
  const SpanqResult explained = spanq(joined({"explain", "--json", "--predict"}, options, files));
  QVERIFY2(explained.code == 0, explained.err.c_str());
  const SpanqResult ran = spanq(joined({"run", "--json"}, options, files));
  QVERIFY2(ran.code == 0, ran.err.c_str());
  const Json steps = predictionsIn(explained.out).back().at("steps");
  const Json ranSteps = Json::parse(ran.out).at("runs").back().at("steps");
  QCOMPARE(steps.size(), ranSteps.size());
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (const std::string& count : kCounts) {
      QVERIFY2(isWithin(steps[step].at(count), ranSteps[step].at(count).get<std::int64_t>()),
               (count + " of step " + std::to_string(step) + steps[step].dump()).c_str());
    }
    const Json& account = ranSteps[step].at("account");
    for (const char* count : {"prompt", "relocated", "computed_again", "computed", "beside"}) {
      QVERIFY2(isWithin(steps[step].at("account").at(count), account.at(count).get<std::int64_t>()),
               (count + (" of the account of step " + std::to_string(step)) + steps[step].dump()).c_str());
    }
  }
  const Json& last = steps[static_cast<std::size_t>(doubted)];
  QCOMPARE(QString::fromStdString(last.at("doubt").get<std::string>()), doubt);
  QVERIFY(last.at("computed").at("least") < last.at("computed").at("most"));
  const bool holdsAnswer = std::any_of(last.at("segments").begin(), last.at("segments").end(),
                                       [](const Json& segment) { return segment.at("reply_tokens") > 0; });
  QCOMPARE(holdsAnswer, doubt == "holds_reply");
}

void TestSpanqPredict::textSaysAll() {
  const SpanqResult rag = spanq(joined({"explain", "--predict"}, {}, {"rag.json", "rag-swapped.json"}));
  QCOMPARE(rag.code, 0);
  for (const char* words :
       {"Predicted reuse: policy spans on spanlet, 2048 blocks of 16 tokens, empty at first\n",
        "     0  the root      83       0          0        83        0\n",
        "     0  the root      83      70         38        13        0\n",
        "  <span-table-step> 0: the root\n", "relocated ×2\n", "miss (context differs)\n"}) {
    QVERIFY2(holds(rag.out, words), (words + ("\n" + rag.out)).c_str());
  }
  QVERIFY(!holds(rag.out, "why not known"));
  // Under another policy too, the prompt is what the answer attends to.
  const SpanqResult linked =
      spanq(joined({"explain", "--predict", "--policy", "link"}, {}, {"rag.json", "rag-swapped.json"}));
  QCOMPARE(linked.code, 0);
  QVERIFY2(
      holds(
          linked.out,
          "  step  node      prompt  cached  relocated  recomputed  computed  beside the prompt  evicted\n"),
      linked.out.c_str());
  QVERIFY2(
      holds(
          linked.out,
          "     0  the root      83      23          6          47        13                 48        0\n"),
      linked.out.c_str());
  const SpanqResult judge = spanq(joined({"explain", "--predict"}, {}, {"judge-2.json"}));
  QVERIFY(holds(judge.out, "  <prompt-holds-reply>\n"));
  QVERIFY(holds(judge.out, "in all"));
  QVERIFY(holds(judge.out, "<predicted-replies-at-their-longest>\n"));
  const SpanqResult none = spanq({"explain", "--predict", "-"}, R"({"user":"a"})");
  QVERIFY(holds(none.out, "generates nothing"));
}

namespace {

/// Prompt tokens that the last query's only step finds, if answers have their max length.
std::int64_t cachedOf(const SpanqResult& result) {
  std::int64_t cached = 0;
  const Json prediction = predictionsIn(result.out).back();
  for (const Json& segment : prediction.at("steps").at(0).at("segments")) {
    for (const Json& block : segment.at("blocks")) cached += block.at("tokens").get<std::int64_t>();
  }
  return cached;
}

/// All changes of a kind, of the last query's only step, without those that are named for several blocks.
std::vector<Json> changesOf(const SpanqResult& result, const std::string& kind) {
  std::vector<Json> changes;
  const Json prediction = predictionsIn(result.out).back();
  for (const Json& segment : prediction.at("steps").at(0).at("segments")) {
    for (const Json& block : segment.at("blocks")) {
      for (Json change : block.value("what_if", Json::array())) {
        if (change.at("change") != kind) continue;
        change.erase("found");
        if (std::find(changes.begin(), changes.end(), change) == changes.end()) changes.push_back(change);
      }
    }
  }
  return changes;
}

}  // namespace

/// What --why says is done, and the blocks are found.
void TestSpanqPredict::whyNamesChangesThatDo() {
  // The same documents without their plus.
  QFile file(QString::fromStdString(kQueries + "rag.json"));
  QVERIFY(file.open(QIODevice::ReadOnly));
  Json query = Json::parse(file.readAll().toStdString());
  Json& messages = query["g"]["input"]["cross"];
  const Json documents = messages[1]["plus"];
  Json flat = Json::array({messages[0]});
  for (const Json& document : documents) flat.push_back(document);
  flat.push_back(messages[2]);
  messages = flat;
  const std::string rag = kQueries + "rag.json";
  const SpanqResult crossed = spanq({"explain", "--json", "--why", rag, "-"}, query.dump());
  QVERIFY2(crossed.code == 0, crossed.err.c_str());
  const std::vector<Json> spans = changesOf(crossed, "own_span");
  QCOMPARE(spans.size(), documents.size());
  std::int64_t more = 0;
  for (const Json& span : spans) {
    QCOMPARE(span.at("cached").get<int>(), span.at("count").get<int>());
    QCOMPARE(span.at("stored_by").at("run").get<int>(), 1);
    more += span.at("cached").get<std::int64_t>();
  }
  messages = Json::array({flat.front(), {{"plus", documents}}, {{"user", "Who is it?"}}});
  const SpanqResult plus = spanq({"explain", "--json", "--why", rag, "-"}, query.dump());
  QVERIFY(cachedOf(plus) >= cachedOf(crossed) + more);

  // A pool that is too small for both.
  const std::vector<std::string> files = {rag, kQueries + "judge-2.json", rag};
  const auto inPool = [&files](const std::string& blocks) {
    std::vector<std::string> words{"explain", "--json", "--why", "--blocks", blocks};
    words.insert(words.end(), files.begin(), files.end());
    return spanq(words);
  };
  // If an answer may outgrow the pool, the message would request a larger pool.
  QVERIFY(changesOf(inPool("14"), "larger_pool").empty());
  const SpanqResult small = inPool("29");
  std::int64_t blocks = 0;
  for (const Json& change : changesOf(small, "larger_pool"))
    blocks = std::max(blocks, change.at("blocks").get<std::int64_t>());
  QVERIFY(blocks > 29);
  const SpanqResult large = inPool(std::to_string(blocks));
  QVERIFY(changesOf(large, "larger_pool").empty());
  const std::int64_t prompt =
      predictionsIn(large.out).back().at("totals").at("prompt").at("least").get<std::int64_t>();
  // The last token is always computed.
  QCOMPARE(cachedOf(large), prompt - 1);
  QVERIFY(cachedOf(small) < prompt - 1);

  const SpanqResult text = spanq({"explain", "--why", rag, rag});
  QVERIFY2(holds(text.out, "  What step 0 computes, and why:\n"), text.out.c_str());
  QVERIFY2(holds(text.out, "  Step 0 <nothing-to-change>"), text.out.c_str());
  const SpanqResult plain = spanq({"explain", "--json", "--predict", rag});
  QVERIFY(!holds(plain.out, "what_if"));
}

void TestSpanqPredict::failuresAreForetold() {
  const std::vector<std::string> words =
      joined({"explain", "--predict"}, {"--blocks", "4"}, {"rag.json", "rag-swapped.json"});
  const SpanqResult failing = spanq(words);
  QCOMPARE(failing.code, 0);
  QVERIFY2(holds(failing.out, "  <run-fail> "), failing.out.c_str());
  QVERIFY(holds(failing.out, "  not predicted: <query-before-fail>\n"));
  const SpanqResult json =
      spanq(joined({"explain", "--json", "--predict"}, {"--blocks", "4"}, {"rag.json", "rag-swapped.json"}));
  const std::vector<Json> predictions = predictionsIn(json.out);
  QVERIFY(predictions.at(0).at("error_is_certain").get<bool>());
  QVERIFY(predictions.at(1).is_null());
  const SpanqResult ran = spanq(joined({"run"}, {"--blocks", "4"}, {"rag.json"}));
  QVERIFY(holds(ran.err, predictions.at(0).at("error").get<std::string>()));
}

void TestSpanqPredict::weightsAreNotNeeded() {
  const QTemporaryDir folder;
  const QDir model(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  for (const QString& name : model.entryList(QDir::Files)) {
    if (name.endsWith(".safetensors")) continue;
    QVERIFY(QFile::copy(model.filePath(name), folder.filePath(name)));
  }
  const std::vector<std::string> words = joined({"explain", "--predict"}, {}, {"rag.json"});
  std::vector<std::string> chosen = words;
  chosen.insert(chosen.end(), {"--model", folder.path().toStdString()});
  const SpanqResult result = spanq(chosen);
  QVERIFY2(result.code == 0, result.err.c_str());
  QVERIFY(holds(result.out, "     0  the root      83       0          0        83        0\n"));
}

/// An adapter can change the default policy, as in a run.
void TestSpanqPredict::anAdapterChoosesThePolicy() {
  const QTemporaryDir folder;
  const QDir model(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  for (const QString& name : model.entryList(QDir::Files)) {
    if (name.endsWith(".safetensors") || name == QStringLiteral("config.json")) continue;
    QVERIFY(QFile::copy(model.filePath(name), folder.filePath(name)));
  }
  QFile given(model.filePath(QStringLiteral("config.json")));
  QVERIFY(given.open(QIODevice::ReadOnly));
  Json config = Json::parse(given.readAll().toStdString());
  config["block_attention"] = false;
  QFile written(folder.filePath(QStringLiteral("config.json")));
  QVERIFY(written.open(QIODevice::WriteOnly));
  written.write(QByteArray::fromStdString(config.dump()));
  written.close();
  const auto predicted = [&folder](const QStringList& options) {
    std::vector<std::string> words = joined({"explain", "--predict"}, options, {"rag.json"});
    words.insert(words.end(), {"--model", folder.path().toStdString()});
    return spanq(words);
  };
  const SpanqResult plain = predicted({"--kv", "f32"});
  QVERIFY2(holds(plain.out, "Predicted reuse: policy prefix"), (plain.out + plain.err).c_str());
  const SpanqResult adapted =
      predicted({"--adapter", SPANSCOPE_SOURCE_DIR "/resources/models/smollm2-135m-block"});
  QVERIFY2(holds(adapted.out, "Predicted reuse: policy spans"), (adapted.out + adapted.err).c_str());
}

void TestSpanqPredict::otherServers_data() {
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QStringList>("files");
  QTest::addColumn<int>("found");  ///< of the last file's prompt; all of its steps
  QTest::addColumn<int>("moved");
  const QStringList swapped{"rag.json", "rag-swapped.json"};
  const QStringList twice{"rag.json", "rag.json"};
  // 14 tokens of 83 are before the first document.
  QTest::newRow("vLLM") << QStringList{"--as", "vllm"} << swapped << 0 << 0;
  QTest::newRow("vLLM, small blocks")
      << QStringList{"--as", "vllm", "--block-size", "4"} << swapped << 12 << 0;
  QTest::newRow("vLLM, the same") << QStringList{"--as", "vllm"} << twice << 80 << 0;
  QTest::newRow("SGLang") << QStringList{"--as", "sglang"} << swapped << 14 << 0;
  QTest::newRow("SGLang, the same") << QStringList{"--as", "sglang"} << twice << 82 << 0;
  QTest::newRow("SGLang, by the page")
      << QStringList{"--as", "sglang", "--block-size", "16"} << twice << 80 << 0;
  QTest::newRow("llama.cpp") << QStringList{"--as", "llama.cpp"} << swapped << 14 << 0;
  QTest::newRow("llama.cpp, one slot")
      << QStringList{"--as", "llama.cpp", "--slots", "1"} << twice << 82 << 0;
  QTest::newRow("llama.cpp, moved runs")
      << QStringList{"--as", "llama.cpp", "--slots", "1", "--cache-reuse", "8"} << swapped << 14 << 20;
  QTest::newRow("two steps that ask the same")
      << QStringList{"--as", "vllm"} << QStringList{"judge-2.json"} << 48 << 0;
}

void TestSpanqPredict::otherServers() {
  QFETCH(QStringList, options);
  QFETCH(QStringList, files);
  QFETCH(int, found);
  QFETCH(int, moved);
  const SpanqResult result = spanq(joined({"explain", "--json"}, options, files));
  QVERIFY2(result.code == 0, result.err.c_str());
  // The objects follow each other; the last one is for the last file.
  const std::size_t begin = result.out.rfind("\n{\n");
  const Json simulator =
      Json::parse(result.out.substr(begin == std::string::npos ? 0 : begin)).at("simulator");
  QCOMPARE(simulator.at("server").get<std::string>(), options.at(1).toStdString());
  int counted = 0;
  int shifted = 0;
  for (const Json& step : simulator.at("steps")) {
    int prompt = 0;
    int cached = 0;
    for (const Json& run : step.at("tokens")) {
      QCOMPARE(run.at("begin").get<int>(), prompt);
      prompt += run.at("count").get<int>();
      const auto fate = run.at("fate").get<std::string>();
      if (fate == "found") counted += run.at("count").get<int>();
      if (fate == "moved") shifted += run.at("count").get<int>();
      if (fate == "found" || fate == "moved") cached += run.at("count").get<int>();
    }
    QCOMPARE(step.at("prompt").get<int>(), prompt);
    QCOMPARE(step.at("cached").get<int>(), cached);
  }
  QCOMPARE(counted, found);
  QCOMPARE(shifted, moved);
}

void TestSpanqPredict::otherServersSayWhy() {
  const SpanqResult rag =
      spanq(joined({"explain", "--predict", "--as", "sglang"}, {}, {"rag.json", "rag-swapped.json"}));
  QVERIFY2(holds(rag.out, "On SGLang 0.5.23<empty-first-much>\n"), rag.out.c_str());
  QVERIFY2(holds(rag.out, "     0  the root      83      14          0        69\n"), rag.out.c_str());
  const auto* const sglang = spanscope::simulator::findServer("sglang");
  for (const auto& [tokens, outcome, fate] :
       {std::tuple("  0–13       14  ", "hit", spanscope::simulator::Fate::Found),
        std::tuple("  14–82      69  ", "miss", spanscope::simulator::Fate::Differs)}) {
    const std::string line =
        std::string(tokens) + outcome + ": " + spanscope::simulator::whyAt(*sglang, fate) + "\n";
    QVERIFY2(holds(rag.out, line), rag.out.c_str());
  }
  QVERIFY(!holds(rag.out, "Predicted reuse"));
  QVERIFY(!holds(rag.out, "<prompt-holds-a-reply>"));
  // The outer prompt has the inner answers alone, as `remote run` sends it, and not their prompts again.
  const SpanqResult judge = spanq(joined({"explain", "--as", "vllm"}, {}, {"judge-2.json"}));
  QVERIFY2(!holds(judge.out, "distribute plus"), judge.out.c_str());
  QVERIFY2(holds(judge.out, "  <prompt-holds-a-reply>"), judge.out.c_str());
  const SpanqResult small = spanq(joined({"explain", "--as", "vllm", "--blocks", "4"}, {}, {"rag.json"}));
  QVERIFY2(holds(small.out, "  <not-foretold-query>\n"), small.out.c_str());
}

/// The best order counts the note that `remote run --order-note` sends.
void TestSpanqPredict::bestOrderHasItsNote() {
  const auto ordersOf = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"explain", "--as", "sglang", "--json"});
    const SpanqResult result = spanq(joined(options, {}, {"rag.json", "rag-swapped.json"}));
    return Json::parse(result.out.substr(result.out.rfind("\n{\n"))).at("simulator").at("orders");
  };
  const Json plain = ordersOf({});
  const Json noted = ordersOf({"--order-note"});
  QCOMPARE(plain.at("order_line_tokens").get<int>(), 0);
  QVERIFY(noted.at("order_line_tokens").get<int>() > 0);
  QVERIFY(noted.at("prompt_tokens") == plain.at("prompt_tokens"));
  QVERIFY(noted.at("as_written") == plain.at("as_written"));
  // The notes of the two queries differ, so a part of the last note is not cached.
  const auto cached = [](const Json& orders) {
    return orders.at("best_order").at("cached_tokens").get<int>();
  };
  QVERIFY(cached(noted) < cached(plain) + noted.at("order_line_tokens").get<int>());
}

/// The tokens that llama-server keeps in a slot depend on the unknown length of the answer: such counts are
/// not exact.
void TestSpanqPredict::lengthsOfAnswers() {
  const QTemporaryDir folder;
  const auto write = [&folder](const char* name, const char* person) {
    const QString path = folder.filePath(QString::fromLatin1(name));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        QByteArray(R"({"g":{"model":"spnl/spanlet","max_tokens":200,"input":{"cross":[)"
                   R"({"system":"You write short letters to people who live in the old town of Lisbon."},)"
                   R"({"user":"Write to )") +
        person + QByteArray(R"( at once."}]}}})"));
  };
  write("a.json", "Mira");
  write("b.json", "Tarek");
  const std::string a = folder.filePath(QStringLiteral("a.json")).toStdString();
  const std::string b = folder.filePath(QStringLiteral("b.json")).toStdString();
  const auto exact = [](const SpanqResult& result) {
    const std::size_t begin = result.out.rfind("\n{\n");
    return Json::parse(result.out.substr(begin)).at("simulator").at("steps").at(0).at("exact").get<bool>();
  };
  const std::vector<std::string> slot{"explain", "--as", "llama.cpp", "--slots", "1"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  QVERIFY(!exact(spanq(with(slot, {"--json", a, b, a}))));
  QVERIFY(exact(spanq(with(slot, {"--json", a, b}))));
  QVERIFY(exact(spanq({"explain", "--as", "vllm", "--json", a, b, a})));
  const SpanqResult text = spanq(with(slot, {a, b, a}));
  QVERIFY2(holds(text.out, "≈"), text.out.c_str());
}

void TestSpanqPredict::wrongOptions_data() {
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QString>("says");
  QTest::newRow("why of a graph") << QStringList{"--why", "--dot"} << "--why";
  QTest::newRow("graph") << QStringList{"--predict", "--dot"} << "--predict";
  QTest::newRow("policy of a graph") << QStringList{"--policy", "prefix", "--dot"} << "--policy";
  QTest::newRow("no such server") << QStringList{"--as", "ollama"} << "--as";
  QTest::newRow("slots of no server") << QStringList{"--predict", "--slots", "2"} << "--as";
  QTest::newRow("no slot") << QStringList{"--as", "llama.cpp", "--slots", "0"} << "--slots";
  QTest::newRow("graph of a server") << QStringList{"--as", "vllm", "--dot"} << "--as";
  for (const char* option : {"--policy", "--layout", "--output-form", "--kv", "--adapter"}) {
    const QStringList values{"--policy", "spans", "--layout", "padded",    "--output-form",
                             "reused",   "--kv",  "f32",      "--adapter", "folder"};
    const QString value = values.at(values.indexOf(QString::fromLatin1(option)) + 1);
    QTest::newRow(qPrintable(QStringLiteral("%1 of a server").arg(QString::fromLatin1(option))))
        << QStringList{"--as", "sglang", option, value}
        << QStringLiteral("Spanscope found %1, but needs <no-effect-with-as>")
               .arg(QString::fromLatin1(option));
  }
  QTest::newRow("no distribution of a server")
      << QStringList{"--as", "vllm", "--no-distribute"}
      << "Spanscope found --no-distribute, but needs <no-effect-with-as>";
  QTest::newRow("slots of vLLM") << QStringList{"--as", "vllm", "--slots", "2"} << "needs --as llama.cpp";
  QTest::newRow("relocation of SGLang")
      << QStringList{"--as", "sglang", "--cache-reuse", "8"} << "needs --as llama.cpp";
  QTest::newRow("blocks of llama.cpp")
      << QStringList{"--as", "llama.cpp", "--block-size", "8"} << "needs --as vllm";
  QTest::newRow("no such policy") << QStringList{"--predict", "--policy", "best"} << "There is no policy";
}

void TestSpanqPredict::wrongOptions() {
  QFETCH(QStringList, options);
  QFETCH(QString, says);
  const SpanqResult result = spanq(joined({"explain"}, options, {"rag.json"}));
  QCOMPARE(result.code, 2);
  QVERIFY2(holds(result.err, says.toStdString()), result.err.c_str());
}

SPANSCOPE_TEST(tst_spanq_predict, TestSpanqPredict)
#include "tst_spanq_predict.moc"
