// SPDX-License-Identifier: GPL-3.0-or-later
// What other servers would find of a query after those that were run before it.
#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/metrics/run_facts.h"
#include "engine/query/json/json.h"
#include "engine/trace/predicted.h"
#include "engine/trace/replay.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/servers/sent_prompts.h"
#include "engine/workbench/servers/simulator_prediction.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QString>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace spanscope;
using spanscope::product_text::says;
using spanscope::product_text::worded;
using workbench::NamedSimulator;
using workbench::SentQuery;
using workbench::ServerPrompt;
using workbench::SimulatorPrediction;
using workbench::SimulatorPredictions;
using workbench::SimulatorPredictor;

namespace {

const workbench::PromptModel& tiny() {
  static const workbench::PromptModel model = [] {
    const checkpoint::Checkpoint checkpoint(workbench::bundledModelDirectory());
    return workbench::PromptModel{.id = "tiny",
                                  .tokenizer = text::loadTokenizer(checkpoint),
                                  .chat = &text::findChatTemplate(checkpoint)};
  }();
  return model;
}

std::string ragWith(const std::string& documents) {
  return R"({"g":{"model":"tiny","max_tokens":4,"input":{"cross":[{"system":"Answer in one word."},{"plus":[)" +
         documents + R"(]},{"user":"Where does Mira live?"}]}}})";
}
const std::string kMira = R"({"user":"Mira lives in a small house in the old town of Lisbon by the river."})";
const std::string kTarek = R"({"user":"Tarek has a dog that likes to sleep under the table all day long."})";
const std::string kNested = R"({"g":{"model":"tiny","max_tokens":4,"input":{"cross":[)"
                            R"({"g":{"model":"tiny","max_tokens":4,"input":{"user":"Name a town."}}},)"
                            R"({"user":"Is it large?"}]}}})";

std::string letterTo(const std::string& person) {
  return R"({"g":{"model":"tiny","max_tokens":200,"input":{"cross":[)"
         R"({"system":"You write short letters to people who live in the old town of Lisbon."},)"
         R"({"user":"Write to )" +
         person + R"( at once."}]}}})";
}

query::Node parsed(const std::string& json) {
  query::ParseResult result = query::parseJson(json);
  if (!result.query) qFatal("cannot read the query");
  return std::move(*result.query);
}

SentQuery sentOf(RunId run, const std::string& json,
                 std::map<workbench::StepName, workbench::SentAnswer> answers) {
  return {.run = run, .queryJson = json, .settings = {}, .answers = std::move(answers)};
}

SimulatorPredictions predictionOf(SimulatorPredictor& predictor, const std::string& json,
                                  const std::vector<SentQuery>& sent = {},
                                  const std::vector<NamedSimulator>& named = {}) {
  auto made = predictor.prediction(tiny(), parsed(json), {}, sent, named, {});
  if (!made) qFatal("it was stopped");
  return std::move(*made);
}

const SimulatorPrediction& of(const SimulatorPredictions& predictions, const std::string& id) {
  const auto found = std::find_if(predictions.simulators.begin(), predictions.simulators.end(),
                                  [&id](const SimulatorPrediction& simulator) { return simulator.id == id; });
  if (found == predictions.simulators.end()) qFatal("no twin %s", id.c_str());
  return *found;
}

}  // namespace

class TestSimulatorPrediction : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void promptsAreThoseThatAreSent_data() {
    QTest::addColumn<QString>("file");
    for (const char* file : {"chat.json", "rag.json", "rag-swapped.json", "needle.json"})
      QTest::newRow(file) << QString::fromLatin1(file);
  }
  void promptsAreThoseThatAreSent() {
    QFETCH(QString, file);
    std::ifstream stream(SPANSCOPE_SOURCE_DIR "/resources/queries/" + file.toStdString());
    const std::string json{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    SimulatorPredictor predictor;
    const SimulatorPredictions predictions = predictionOf(predictor, json);
    QCOMPARE(predictions.problem, std::string());
    const exports::ChatRequests chat = exports::chatRequests(parsed(json));
    QCOMPARE(predictions.prompts.size(), chat.requests.size());
    for (std::size_t i = 0; i < chat.requests.size(); ++i) {
      QCOMPARE(predictions.prompts[i].name.first, chat.requests[i].node);
      QCOMPARE(predictions.prompts[i].tokens(),
               workbench::chatTokens(chat.requests[i].messages, *tiny().tokenizer, *tiny().chat));
    }
  }

  /// Of two requests that are sent at the same time, the first at a llama-server gets what the slot holds.
  /// vLLM finds the same blocks for both.
  void ordersThatAreNotKnown() {
    SimulatorPredictor predictor;
    const std::string two = R"({"cross":[)" + letterTo("Tarek") + "," + letterTo("Priya") + "]}";
    const std::vector<SentQuery> sent{
        sentOf(1, letterTo("Mira"), {{{"", 0}, {.text = "Dear Mira, come at once.", .endedItself = true}}})};
    const SimulatorPredictions predictions = predictionOf(predictor, two, sent);
    QCOMPARE(predictions.prompts.size(), std::size_t{2});
    const SimulatorPrediction& llama = of(predictions, "llama.cpp");
    const SimulatorPrediction& vllm = of(predictions, "vllm");
    for (std::size_t i = 0; i < 2; ++i) {
      QVERIFY(!llama.presentRange.prompts.at(i).isExact());
      QVERIFY(llama.presentRange.prompts[i].least <= llama.present[i].cached);
      QVERIFY(llama.presentRange.prompts[i].most >= llama.present[i].cached);
      QVERIFY(vllm.presentRange.prompts.at(i).isExact());
      QCOMPARE(vllm.presentRange.prompts[i].most, std::int64_t{vllm.present[i].cached});
    }
    // One alone comes first.
    const SimulatorPredictions one = predictionOf(predictor, letterTo("Tarek"), sent);
    QVERIFY(of(one, "llama.cpp").presentRange.prompts.at(0).isExact());
    QVERIFY(of(one, "llama.cpp").presentRange.prompts[0].most > 0);
  }

  /// A server that reports its settings gets a cache simulator with these settings.
  void asServersSayOfThemselves() {
    NamedSimulator blocks{.server = "blocks", .kind = "vllm"};
    blocks.cache.blockSize = 4;
    blocks.cache.cacheTokens = 4096;
    NamedSimulator off = blocks;
    off.server = "off";
    off.cache.findsPrefixes = false;
    NamedSimulator spans = blocks;
    spans.server = "spans";
    spans.takesSpans = true;
    // This query can be sent there with its spans, and would be.
    NamedSimulator byItself = blocks;
    byItself.server = "by itself";
    byItself.protocols = {"spnl", "chat"};
    NamedSimulator small{.server = "small", .kind = "llama.cpp", .slots = 2};
    small.cache.slotTokens = 256;
    const NamedSimulator silent{.server = "silent", .kind = "vllm"};
    SimulatorPredictor predictor;
    const std::string first = ragWith(kMira + "," + kTarek);
    std::map<workbench::StepName, workbench::SentAnswer> answers;
    answers[{"", 0}] = {.text = "Lisbon", .server = "blocks"};
    const SimulatorPredictions predictions =
        predictionOf(predictor, first, {sentOf(1, first, std::move(answers))},
                     {blocks, off, silent, small, spans, byItself});
    const auto all = static_cast<std::int32_t>(predictions.prompts.at(0).tokens().size());
    const SimulatorPrediction& said = of(predictions, "server blocks");
    QVERIFY(said.isAsSaid && said.problem.empty());
    QCOMPARE(said.setup, std::string("blocks of 4 tokens"));
    QCOMPARE(said.earlier, std::size_t{1});
    QCOMPARE(said.present.at(0).cached, (all - 1) / 4 * 4);
    QVERIFY(!of(predictions, "server silent").isAsSaid);
    QCOMPARE(of(predictions, "server silent").setup, std::string("blocks of 16 tokens"));
    QVERIFY2(of(predictions, "server off").problem.find("is off") != std::string::npos,
             of(predictions, "server off").problem.c_str());
    QVERIFY2(of(predictions, "server spans").problem.find("spans") != std::string::npos,
             of(predictions, "server spans").problem.c_str());
    QCOMPARE(of(predictions, "server by itself").problem, of(predictions, "server spans").problem);
    NamedSimulator chats = byItself;
    chats.protocols = {"chat"};
    QVERIFY(of(predictionOf(predictor, first, {}, {chats}), "server by itself").problem.empty());
    QVERIFY(of(predictions, "server small").isAsSaid);
    QCOMPARE(of(predictions, "server small").setup, std::string("2 slots"));
  }

  /// llama-server's four slots are its default, and share their room.
  void setupsOfSimulators_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("slots");
    QTest::addColumn<int>("slotTokens");
    QTest::addColumn<int>("wantedSlots");
    QTest::addColumn<int>("wantedTokens");
    const int llama = static_cast<int>(remote::ServerKind::LlamaCpp);
    QTest::newRow("four slots") << llama << 4 << 2048 << 0 << 2048;
    QTest::newRow("two slots") << llama << 2 << 2048 << 2 << 4096;
    QTest::newRow("one slot") << llama << 1 << 2048 << 1 << 2048;
    QTest::newRow("nothing") << llama << 0 << 0 << 0 << 0;
    QTest::newRow("more than there can be") << llama << 1'000'000 << 2'000'000'000 << 0 << 0;
  }
  void setupsOfSimulators() {
    QFETCH(int, kind);
    QFETCH(int, slots);
    QFETCH(int, slotTokens);
    QFETCH(int, wantedSlots);
    QFETCH(int, wantedTokens);
    remote::CacheFacts cache;
    if (slotTokens > 0) cache.slotTokens = slotTokens;
    const workbench::SimulatorSetup setup =
        workbench::simulatorSetup(static_cast<remote::ServerKind>(kind),
                                  slots > 0 ? std::optional<std::int64_t>(slots) : std::nullopt, cache);
    QCOMPARE(setup.settings.slots, wantedSlots);
    QCOMPARE(setup.settings.cacheTokens, std::int64_t{wantedTokens});
    QCOMPARE(setup.isAsSaid, slots > 0);
  }

  /// A server that was started in another way since holds nothing of before.
  void aServerThatWasStartedAnew() {
    workbench::ServerSimulators simulators;
    remote::ServerFacts facts{.kind = remote::ServerKind::LlamaCpp, .version = {}, .models = {}, .slots = 1};
    const std::vector<TokenId> prompt{1, 2, 3, 4, 5, 6, 7, 8};
    const auto first = simulators.send("a", facts, prompt);
    QCOMPARE(first->predicted.found, std::int64_t{0});
    simulators.end("a", first->number, std::vector<TokenId>{9});
    QCOMPARE(simulators.send("a", facts, prompt)->predicted.found, std::int64_t{7});
    facts.slots = 2;
    QCOMPARE(simulators.send("a", facts, prompt)->predicted.found, std::int64_t{0});
    facts.kind = remote::ServerKind::Vllm;
    facts.cache.findsPrefixes = false;
    QVERIFY(!simulators.send("a", facts, prompt));
  }

  /// llama-server keeps the prompts of its slots in host memory, which has room for many contexts.
  void promptsReturnFromHostMemory() {
    workbench::ServerSimulators simulators;
    remote::ServerFacts facts{.kind = remote::ServerKind::LlamaCpp, .version = {}, .models = {}, .slots = 4};
    constexpr TokenId kTokens = 40;
    facts.cache.slotTokens = 64;
    const auto promptOf = [](TokenId first) {
      std::vector<TokenId> prompt;
      for (TokenId i = 0; i < kTokens; ++i) prompt.push_back(first * 1000 + i);
      return prompt;
    };
    constexpr TokenId kPrompts = 12;
    for (TokenId i = 1; i <= kPrompts; ++i) {
      const auto sent = simulators.send("a", facts, promptOf(i));
      QCOMPARE(sent->predicted.found, std::int64_t{0});
      simulators.end("a", sent->number, std::vector<TokenId>{9});
    }
    QCOMPARE(simulators.send("a", facts, promptOf(1))->predicted.found, std::int64_t{kTokens - 1});
  }

  void bytesOfTokens() {
    // Two layers, with two heads of six numbers for the keys and for the values.
    const std::filesystem::path data = SPANSCOPE_SOURCE_DIR "/tests/engine/model/data";
    QCOMPARE(workbench::cachedTokenBytes(data / "bf16_gqa_tied"),
             std::optional<std::int64_t>(2 * 2 * 2 * 6 * 2));
    QVERIFY(!workbench::cachedTokenBytes(data));
  }

  /// Prompts that are sent together find what a server has of each other: blocks, but not what another slot
  /// holds.
  void promptsThatAreSentTogether_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("slots");
    QTest::addColumn<bool>("waits");
    QTest::addColumn<int>("found");
    const int llama = static_cast<int>(remote::ServerKind::LlamaCpp);
    QTest::newRow("vLLM") << static_cast<int>(remote::ServerKind::Vllm) << 0 << false << 32;
    QTest::newRow("two slots") << llama << 2 << false << 0;
    QTest::newRow("two slots, one after the other") << llama << 2 << true << 39;
    QTest::newRow("one slot") << llama << 1 << false << 39;
  }
  void promptsThatAreSentTogether() {
    QFETCH(int, kind);
    QFETCH(int, slots);
    QFETCH(bool, waits);
    QFETCH(int, found);
    remote::ServerFacts facts{
        .kind = static_cast<remote::ServerKind>(kind), .version = {}, .models = {}, .slots = {}};
    if (slots > 0) facts.slots = slots;
    std::vector<TokenId> prompt(40);
    std::iota(prompt.begin(), prompt.end(), 1);
    workbench::ServerSimulators simulators;
    const auto first = simulators.send("a", facts, prompt);
    if (waits) simulators.end("a", first->number, std::vector<TokenId>{9});
    const auto second = simulators.send("a", facts, prompt);
    QCOMPARE(second->predicted.found, std::int64_t{found});
    // The one that came first ends last, and is in the cache then.
    simulators.end("a", second->number, std::vector<TokenId>{9});
    if (!waits) simulators.end("a", first->number, std::vector<TokenId>{9});
    const std::int64_t most = kind == static_cast<int>(remote::ServerKind::Vllm) ? 32 : 39;
    QCOMPARE(simulators.send("a", facts, prompt)->predicted.found, most);
  }

  /// A server may compute concurrent requests in any order, so the prediction is a range.
  void rangesOfConcurrentPrompts() {
    const remote::ServerFacts facts{
        .kind = remote::ServerKind::Vllm, .version = {}, .models = {}, .slots = {}};
    std::vector<TokenId> prompt(40);
    std::iota(prompt.begin(), prompt.end(), 1);
    workbench::ServerSimulators simulators;
    auto first = simulators.send("a", facts, prompt);
    auto second = simulators.send("a", facts, prompt);
    QVERIFY(first->predicted.isExact());
    QCOMPARE(second->predicted.found, std::int64_t{32});
    QCOMPARE(second->predicted.least, std::int64_t{0});
    QCOMPARE(workbench::foundText(second->predicted), std::string("0–32"));
    // The server may have computed the second prompt first.
    simulators.end("a", first->number, std::vector<TokenId>{9}, &first->predicted);
    QCOMPARE(first->predicted.found, std::int64_t{0});
    QVERIFY(first->predicted.contains(32));
    simulators.end("a", second->number, std::vector<TokenId>{9}, &second->predicted);
    QVERIFY(second->predicted.contains(0) && second->predicted.contains(32));
    // A prompt that is sent after the end of all others has one result.
    const auto third = simulators.send("a", facts, prompt);
    QVERIFY(third->predicted.isExact());
    QCOMPARE(workbench::foundText(third->predicted), std::string("32"));
  }

  /// A later program continues with the cache that an earlier program filled.
  void historiesInFiles() {
    const remote::ServerFacts facts{
        .kind = remote::ServerKind::Vllm, .version = {}, .models = {}, .slots = {}};
    std::vector<TokenId> prompt(40);
    std::iota(prompt.begin(), prompt.end(), 1);
    const QTemporaryDir folder;
    const workbench::SentPromptsFile file(folder.filePath("sent.json").toStdString());
    QVERIFY(file.read("http://gpu-3:8000").prompts.empty());
    {
      workbench::ServerSimulators simulators;
      simulators.keepHistory();
      const auto sent = simulators.send("gpu-3", facts, prompt);
      simulators.end("gpu-3", sent->number, std::vector<TokenId>{9});
      simulators.expect("gpu-3", {{.kind = simulator::PartKind::Free, .children = {{.tokens = {4, 5}}}}});
      file.write("http://gpu-3:8000", simulators.history("gpu-3"));
      file.write("http://b", {});
    }
    const workbench::ServerHistory history = file.read("http://gpu-3:8000");
    QCOMPARE(history.prompts,
             (std::vector<workbench::PastPrompt>{{.prompt = prompt, .answer = {9}, .isBeside = false}}));
    QCOMPARE(history.counts.size(), std::size_t{1});
    workbench::ServerSimulators later;
    later.keepHistory();
    later.recall("there", facts, history);
    QCOMPARE(later.send("there", facts, prompt)->predicted.found, std::int64_t{32});
    QCOMPARE(later.history("there"), history);
    // The oldest prompts are removed first.
    workbench::ServerHistory large;
    for (TokenId token = 0; token < 3; ++token)
      large.prompts.push_back(
          {.prompt = std::vector<TokenId>(workbench::SentPromptsFile::kMostTokens / 2 - 9, token),
           .answer = {}});
    file.write("http://b", large);
    QCOMPARE(file.read("http://b").prompts.size(), std::size_t{2});
    QCOMPARE(file.read("http://b").prompts.front().prompt.front(), TokenId{1});
    for (const char* wrong : {"", "[]", "{}", R"({"sent_prompts":1,"servers":{"b":{"prompts":[{}]}}})"}) {
      const std::filesystem::path other = folder.filePath("other.json").toStdString();
      std::ofstream(other) << wrong;
      QVERIFY_THROWS_EXCEPTION(Failure, workbench::SentPromptsFile(other).read("b"));
    }
  }

  /// What a server has not computed leaves nothing.
  void predictionsEqualCopies_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("tokens");
    QTest::newRow("vLLM, unlimited") << int(remote::ServerKind::Vllm) << 0;
    QTest::newRow("vLLM, a small cache") << int(remote::ServerKind::Vllm) << 400;
    QTest::newRow("SGLang, unlimited") << int(remote::ServerKind::Sglang) << 0;
    QTest::newRow("SGLang, a small cache") << int(remote::ServerKind::Sglang) << 400;
    QTest::newRow("llama.cpp") << int(remote::ServerKind::LlamaCpp) << 0;
  }
  /// Without evictions, the hits of a prompt are computed without a copy of the cache. The result is that of
  /// a copy that serves the unfinished prompts.
  void predictionsEqualCopies() {
    QFETCH(int, kind);
    QFETCH(int, tokens);
    remote::ServerFacts facts{
        .kind = static_cast<remote::ServerKind>(kind), .version = {}, .models = {}, .slots = {}};
    facts.cache.blockSize = 4;
    if (tokens > 0) facts.cache.cacheTokens = tokens;
    workbench::ServerSimulators simulators;
    const auto setup = workbench::simulatorSetup(facts.kind, facts.slots, facts.cache);
    const auto settled = simulator::findServer(remote::infoOf(facts.kind).name)->open(setup.settings);
    struct Unfinished {
      std::uint64_t number = 0;
      std::vector<TokenId> prompt;
      std::vector<TokenId> answer{};
      bool isBeside = false;
      bool hasEnded = false;
    };
    std::vector<Unfinished> sent;
    const auto serve = [](simulator::Simulator& to, const Unfinished& each) {
      return std::int64_t{
          to.serve({.prompt = each.prompt, .answer = each.answer, .salt = {}, .isBeside = each.isBeside})
              .cached};
    };
    const unsigned seed = 20261201;
    std::mt19937 random(seed);
    int hits = 0;
    for (int step = 0; step < 400; ++step) {
      if (sent.size() < 4 && random() % 2 == 0) {
        Unfinished next{.prompt = {}, .isBeside = !sent.empty()};
        // Prompts of few parts have common beginnings.
        for (unsigned part = 0; part < 1 + random() % 5; ++part) {
          const auto content = static_cast<TokenId>(random() % 3);
          for (TokenId i = 0; i < 5; ++i) next.prompt.push_back(100 * content + i);
        }
        const auto all = settled->copy();
        const auto ended = settled->copy();
        for (const Unfinished& each : sent) serve(*all, each);
        for (const Unfinished& each : sent)
          if (each.hasEnded) serve(*ended, each);
        const std::int64_t found = serve(*all, next);
        const std::int64_t alone = serve(*ended, next);
        const auto predicted = simulators.send("s", facts, next.prompt);
        QVERIFY(predicted);
        QCOMPARE(predicted->predicted.found, found);
        QCOMPARE(predicted->predicted.least, std::min(found, alone));
        QCOMPARE(predicted->predicted.most, std::max(found, alone));
        hits += found > 0 ? 1 : 0;
        next.number = predicted->number;
        sent.push_back(std::move(next));
        continue;
      }
      std::vector<Unfinished*> running;
      for (Unfinished& each : sent)
        if (!each.hasEnded) running.push_back(&each);
      if (running.empty()) continue;
      Unfinished& done = *running[random() % running.size()];
      for (unsigned i = 0; i < random() % 6; ++i)
        done.answer.push_back(static_cast<TokenId>(7 + random() % 2));
      done.hasEnded = true;
      simulators.end("s", done.number, done.answer);
      while (!sent.empty() && sent.front().hasEnded) {
        serve(*settled, sent.front());
        sent.erase(sent.begin());
      }
    }
    QVERIFY2(hits > 20, qPrintable(QString::number(hits)));
  }

  void aPromptThatWasRefused() {
    workbench::ServerSimulators simulators;
    const remote::ServerFacts facts{
        .kind = remote::ServerKind::LlamaCpp, .version = {}, .models = {}, .slots = 1};
    const std::vector<TokenId> prompt{1, 2, 3, 4, 5, 6, 7, 8};
    const auto first = simulators.send("a", facts, prompt);
    simulators.end("a", first->number, {});
    QCOMPARE(simulators.send("a", facts, prompt)->predicted.found, std::int64_t{0});
  }

  /// llama-server assigns a slot before it refuses a prompt that is too long. The slot is then the last used
  /// one.
  void refusedPromptsTakeASlot() {
    remote::ServerFacts facts{.kind = remote::ServerKind::LlamaCpp, .version = {}, .models = {}, .slots = 2};
    facts.cache.slotTokens = 256;
    workbench::ServerSimulators simulators;
    const auto setup = workbench::simulatorSetup(facts.kind, facts.slots, facts.cache);
    const auto reference = simulator::kLlamaCpp.open(setup.settings);
    const auto unaware = simulator::kLlamaCpp.open(setup.settings);
    bool differs = false;
    const unsigned seed = 20261201;
    std::mt19937 random(seed);
    for (int step = 0; step < 200; ++step) {
      std::vector<TokenId> tokens(random() % 4 == 0 ? 600 : 60 + random() % 50);
      const auto first = static_cast<TokenId>(1000 * (random() % 6));
      std::iota(tokens.begin(), tokens.end(), first);
      for (TokenId i = 0; i < 4; ++i) tokens[static_cast<std::size_t>(i)] = i;  // a common beginning
      const auto sent = simulators.send("a", facts, tokens);
      const simulator::Answer answer = reference->serve({.prompt = tokens, .answer = {}, .salt = {}});
      QCOMPARE(sent->predicted.found, std::int64_t{answer.cached});
      simulators.end("a", sent->number,
                     answer.isRefused ? std::nullopt : std::optional(std::vector<TokenId>()));
      if (!answer.isRefused)
        differs |= unaware->serve({.prompt = tokens, .answer = {}, .salt = {}}).cached != answer.cached;
    }
    QVERIFY(differs);
  }

  /// A server says its version; the rules may be of another one.
  void versionsOfServers() {
    const simulator::Server& vllm = *simulator::findServer("vllm");
    const std::string own = vllm.version;
    QVERIFY(workbench::simulatorTitle(vllm, {}).ends_with(own));
    QCOMPARE(workbench::simulatorTitle(vllm, own), workbench::simulatorTitle(vllm, {}));
    const std::string other = workbench::simulatorTitle(vllm, "0.1.2");
    QVERIFY(other.find("0.1.2") != std::string::npos && other.find(own) != std::string::npos);
    NamedSimulator named{.server = "gpu-3", .kind = "vllm"};
    named.version = "0.1.2";
    SimulatorPredictor predictor;
    QCOMPARE(of(predictionOf(predictor, kNested, {}, {named}), "server gpu-3").version, named.version);
  }

  /// Steps that do not need each other are sent together, as many as the server gets; slots answer one each.
  void stepsThatAreSentTogether() {
    const std::string query = R"({"g":{"model":"tiny","max_tokens":4,"input":{"cross":[{"plus":[)" +
                              letterTo("Mira") + "," + letterTo("Tarek") +
                              R"(]},{"user":"Which is best?"}]}}})";
    SimulatorPredictor predictor;
    NamedSimulator lone{.server = "lone", .kind = "llama.cpp", .slots = 4};
    lone.atOnce = 1;
    const SimulatorPredictions predictions = predictionOf(predictor, query, {}, {lone});
    QCOMPARE(predictions.prompts.size(), std::size_t{3});
    QCOMPARE(predictions.prompts[0].ply, std::uint32_t{0});
    QCOMPARE(predictions.prompts[2].ply, std::uint32_t{1});
    QVERIFY((workbench::sentOrder(predictions.prompts, 8) ==
             std::vector<workbench::SentPrompt>{{0, false}, {1, true}, {2, false}}));
    QVERIFY((workbench::sentOrder(predictions.prompts, 1) ==
             std::vector<workbench::SentPrompt>{{0, false}, {1, false}, {2, false}}));
    QVERIFY(of(predictions, "vllm").empty.at(1).cached > 0);
    QCOMPARE(of(predictions, "llama.cpp").empty.at(1).cached, 0);
    QVERIFY(of(predictions, "one slot").empty.at(1).cached > 0);
    QVERIFY(of(predictions, "server lone").empty.at(1).cached > 0);
  }

  /// Whether llama-server keeps the blocks of a slot depends on the length of the answer: answers count as
  /// some tokens.
  void answersHaveLengths() {
    SimulatorPredictor predictor;
    const std::vector<ServerPrompt> prompts = predictionOf(predictor, letterTo("Mira")).prompts;
    QCOMPARE(prompts.size(), std::size_t{1});
    const std::vector<TokenId>& answer = prompts.front().answerTokens;
    QVERIFY(answer.size() >= 20 && answer.size() <= 60);
    QCOMPARE(std::set<TokenId>(answer.begin(), answer.end()).size(), answer.size());
    QVERIFY(std::all_of(answer.begin(), answer.end(), [](TokenId token) { return token < 0; }));
    const ServerPrompt other = predictionOf(predictor, letterTo("Tarek")).prompts.front();
    const auto found = [&](std::size_t length) {
      const std::unique_ptr<simulator::Simulator> slot =
          simulator::findServer("llama.cpp")->open({.slots = 1});
      ServerPrompt first = prompts.front();
      first.answerTokens.resize(length);
      workbench::answersOf(*slot, {first}, 1);
      workbench::answersOf(*slot, {other}, 1);
      return workbench::answersOf(*slot, {first}, 1).front().cached;
    };
    QVERIFY(found(answer.size()) > found(1));
  }

  /// The same once more, and with its documents swapped: whole blocks, tokens, and what the slot begins with.
  void whatEachServerFinds() {
    const std::string first = ragWith(kMira + "," + kTarek);
    const std::string swapped = ragWith(kTarek + "," + kMira);
    SimulatorPredictor predictor;
    const SimulatorPredictions cold = predictionOf(predictor, first);
    const auto all = static_cast<std::int32_t>(cold.prompts.at(0).tokens().size());
    for (const SimulatorPrediction& simulator : cold.simulators) {
      QCOMPARE(simulator.earlier, std::size_t{0});
      QCOMPARE(simulator.present.at(0).cached, 0);
    }
    const std::vector<SentQuery> sent{sentOf(1, first, {{{"", 0}, {.text = "Lisbon"}}})};
    const SimulatorPredictions same = predictionOf(predictor, first, sent);
    QCOMPARE(of(same, "vllm").present.at(0).cached, (all - 1) / 16 * 16);
    for (const char* id : {"sglang", "llama.cpp", "one slot"}) {
      QCOMPARE(of(same, id).present.at(0).cached, all - 1);
      QCOMPARE(of(same, id).empty.at(0).cached, 0);
      QCOMPARE(of(same, id).earlier, std::size_t{1});
    }
    const SimulatorPredictions other = predictionOf(predictor, swapped, sent);
    const std::vector<TokenId>& a = same.prompts.at(0).tokens();
    const std::vector<TokenId>& b = other.prompts.at(0).tokens();
    const auto common =
        static_cast<std::int32_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    QVERIFY(common > 0 && common < all / 2);
    QCOMPARE(of(other, "vllm").present.at(0).cached, common / 16 * 16);
    QCOMPARE(of(other, "sglang").present.at(0).cached, common);
    QCOMPARE(of(other, "one slot").present.at(0).cached, common);
    const std::string place = of(other, "one slot").present.at(0).place;
    QVERIFY2(place.starts_with("slot 0, which had ") &&
                 place.ends_with(", " + std::to_string(common) + worded(std::string(" <same-beginning>"))),
             place.c_str());
    const simulator::Answer& answer = of(other, "sglang").present.at(0);
    QCOMPARE(answer.fates.back().begin, common);
    QVERIFY(answer.fates.back().fate == simulator::Fate::Differs);
    // What was not run is not kept.
    QCOMPARE(predictionOf(predictor, swapped, sent).simulators, other.simulators);
  }

  /// An inner step leaves its prompt in the cache, and its answer is a message of the outer one.
  void answersOfTheRunStandInPrompts() {
    SimulatorPredictor predictor;
    const SimulatorPredictions before = predictionOf(predictor, kNested);
    QCOMPARE(before.prompts.size(), std::size_t{2});
    QVERIFY(!before.prompts[0].holdsAnswer);
    QVERIFY(before.prompts[1].holdsAnswer);
    const SentQuery sent =
        sentOf(4, kNested, {{{"", 0}, {.text = "Yes"}}, {{"/g/input/cross/0", 0}, {.text = "Lisbon"}}});
    const SimulatorPredictions after = predictionOf(predictor, kNested, {sent});
    const SimulatorPrediction& sglang = of(after, "sglang");
    QCOMPARE(sglang.earlier, std::size_t{2});
    QCOMPARE(sglang.present[0].cached, static_cast<std::int32_t>(after.prompts[0].tokens().size()) - 1);
    // Of the outer prompt, all tokens before the answer.
    const std::vector<TokenId>& outer = after.prompts[1].tokens();
    const auto known = std::find_if(outer.begin(), outer.end(), [](TokenId token) { return token < 0; });
    QCOMPARE(sglang.present[1].cached, static_cast<std::int32_t>(known - outer.begin()));
    // A run that ended before its second step left only the first.
    const SentQuery broken = sentOf(5, kNested, {{{"/g/input/cross/0", 0}, {.text = "Lisbon"}}});
    QCOMPARE(of(predictionOf(predictor, kNested, {broken}), "vllm").earlier, std::size_t{1});
    // And one whose inner step failed left nothing that is known.
    const SentQuery failed = sentOf(6, kNested, {{{"", 0}, {.text = "Yes"}}});
    QCOMPARE(of(predictionOf(predictor, kNested, {failed}), "vllm").earlier, std::size_t{0});
  }

  void namedServersHaveAStateOfTheirOwn() {
    const std::string query = ragWith(kMira + "," + kTarek);
    SimulatorPredictor predictor;
    const std::vector<NamedSimulator> list{{.server = "gpu-3", .kind = "sglang"},
                                           {.server = "box", .kind = "ollama"},
                                           {.server = "own", .kind = "spanscope"},
                                           {.server = "new", .kind = ""}};
    const SimulatorPredictions before = predictionOf(predictor, query, {}, list);
    QCOMPARE(of(before, "server gpu-3").present.at(0).cached, 0);
    QCOMPARE(of(before, "server gpu-3").setup, std::string("by token"));
    QVERIFY(of(before, "server box").problem.find("Ollama") != std::string::npos);
    QVERIFY(of(before, "server own").problem.find("another Spanscope") != std::string::npos);
    QVERIFY(says(of(before, "server new").problem, "<nothing-sent-yet>"));
    const auto all = static_cast<std::int64_t>(before.prompts.at(0).tokens().size());
    // Answered here, it is nothing to that server.
    const SentQuery here = sentOf(1, query, {{{"", 0}, {.text = "Lisbon"}}});
    const SimulatorPredictions beside = predictionOf(predictor, query, {here}, list);
    QCOMPARE(of(beside, "server gpu-3").present.at(0).cached, 0);
    QCOMPARE(of(beside, "server gpu-3").earlier, std::size_t{0});
    QCOMPARE(of(beside, "sglang").present.at(0).cached, static_cast<std::int32_t>(all) - 1);
    const SentQuery there =
        sentOf(2, query, {{{"", 0}, {.text = "Lisbon", .server = "gpu-3", .promptTokens = all}}});
    const SimulatorPredictions after = predictionOf(predictor, query, {here, there}, list);
    QCOMPARE(of(after, "server gpu-3").present.at(0).cached, static_cast<std::int32_t>(all) - 1);
    QCOMPARE(of(after, "server gpu-3").earlier, std::size_t{1});
    QCOMPARE(of(after, "server gpu-3").empty.at(0).cached, 0);
    QCOMPARE(of(after, "sglang").earlier, std::size_t{2});
    // It counts otherwise: nothing that this model's tokens say is true there, until it counts alike again.
    const SentQuery strange =
        sentOf(3, query, {{{"", 0}, {.text = "Lisbon", .server = "gpu-3", .promptTokens = all + 1}}});
    const SimulatorPredictions other = predictionOf(predictor, query, {here, there, strange}, list);
    QVERIFY(of(other, "server gpu-3").problem.find(std::to_string(all + 1)) != std::string::npos);
    // One that was stopped has no count, and says nothing of that.
    const SentQuery stopped =
        sentOf(5, query, {{{"", 0}, {.text = "Lis", .endedItself = false, .server = "gpu-3"}}});
    QVERIFY(!of(predictionOf(predictor, query, {here, there, strange, stopped}, list), "server gpu-3")
                 .problem.empty());
    const SentQuery again =
        sentOf(4, query, {{{"", 0}, {.text = "Lisbon", .server = "gpu-3", .promptTokens = all}}});
    QCOMPARE(of(predictionOf(predictor, query, {here, there, strange, again}, list), "server gpu-3").problem,
             std::string());
  }

  void whatCannotBeSentSaysWhy() {
    SimulatorPredictor predictor;
    const SimulatorPredictions predictions =
        predictionOf(predictor, R"({"g":{"model":"tiny","max_tokens":"{n}","input":{"user":"Hi"}}})");
    QVERIFY(!predictions.problem.empty());
    QVERIFY(predictions.prompts.empty());
    // The next query is asked as ever.
    QCOMPARE(predictionOf(predictor, kNested).problem, std::string());
  }

  /// Runs that are moved before others, and runs that are forgotten, count in their present order.
  void whatWasSentIsReadAnew() {
    const std::string first = ragWith(kMira);
    const std::string second = ragWith(kTarek);
    SimulatorPredictor predictor;
    const SentQuery one = sentOf(1, first, {{{"", 0}, {.text = "Lisbon"}}});
    const SentQuery two = sentOf(2, second, {{{"", 0}, {.text = "Lisbon"}}});
    QCOMPARE(of(predictionOf(predictor, first, {two}), "one slot").earlier, std::size_t{1});
    const SimulatorPredictions both = predictionOf(predictor, first, {one, two});
    QCOMPARE(of(both, "one slot").earlier, std::size_t{2});
    SimulatorPredictor fresh;
    QCOMPARE(both.simulators, predictionOf(fresh, first, {one, two}).simulators);
    QCOMPARE(of(predictionOf(predictor, first), "one slot").present.at(0).cached, 0);
  }

  void toldAsATrace_data() {
    QTest::addColumn<QString>("place");
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("blockSize");
    QTest::newRow("vLLM") << "vllm"
                          << "vLLM" << 16;
    QTest::newRow("SGLang") << "sglang"
                            << "SGLang" << 1;
    QTest::newRow("slots") << "llama.cpp"
                           << "llama.cpp, 4 slots" << 1;
    QTest::newRow("one slot") << "one slot"
                              << "llama.cpp, one slot" << 1;
  }
  /// The queries that were run before and then the current one, with the counts of the prediction.
  void toldAsATrace() {
    QFETCH(QString, place);
    QFETCH(QString, name);
    QFETCH(int, blockSize);
    const std::string id = place.toStdString();
    const std::string first = ragWith(kMira + "," + kTarek);
    const std::vector<SentQuery> sent{sentOf(3, first, {{{"", 0}, {.text = "Lisbon"}}}),
                                      sentOf(5, ragWith(kTarek), {{{"", 0}, {.text = "Lisbon"}}})};
    const std::string now = query::writeCanonical(parsed(ragWith(kMira)));
    SimulatorPredictor predictor;
    const SimulatorPrediction prediction = of(predictionOf(predictor, now, sent), id);
    QCOMPARE(QString::fromStdString(prediction.name()), name);
    const auto reported = predictor.trace(tiny(), parsed(now), now, {}, sent, {}, id, true, {});
    QVERIFY(reported && reported->problem.empty());
    QCOMPARE(QString::fromStdString(reported->name), name);
    QCOMPARE(reported->before, (std::vector<RunId>{3, 5}));
    trace::Replay replay;
    for (const trace::Event& event : reported->events) {
      const auto error = replay.apply(event);
      QVERIFY2(!error, error ? error->message().c_str() : "");
    }
    QCOMPARE(replay.pool().blockSize(), blockSize);
    QVERIFY(trace::isPredicted(replay.progress().program));
    QCOMPARE(replay.progress().runs.size(), std::size_t{3});
    const trace::RunState& last = replay.progress().runs.at(3);
    QCOMPARE(*last.queryJson, now);
    QCOMPARE(QString::fromStdString(last.policy), name + worded("<policy-predicted>"));
    QCOMPARE(last.requests.size(), prediction.present.size());
    const trace::RequestState& request = replay.progress().requests.at(last.requests.front());
    QCOMPARE(request.cachedTokens, std::int64_t{prediction.present.front().cached});
    QVERIFY(request.cachedTokens > 0);
    std::string text;
    for (const std::string& shown : request.segments[0].texts) text += shown;
    QVERIFY2(text.find("Mira") != std::string::npos, text.c_str());
    // Earlier requests are reported; predicted ones are not.
    const RequestId before = replay.progress().runs.at(1).requests.front();
    QCOMPARE(replay.progress().requests.at(before).text, std::string("Lisbon"));
    QVERIFY(replay.progress().requests.at(before).generatedTokens > 0);
    QCOMPARE(request.generatedTokens, std::int64_t{0});
    QVERIFY(request.outcome == trace::StepOutcome::EndToken);
    // Nothing takes any time.
    QCOMPARE(replay.progress().time, std::int64_t{0});
    QVERIFY(!metrics::valuesOf(replay.progress(), last).whole);
    // With an empty cache, nothing was before.
    const auto empty = predictor.trace(tiny(), parsed(now), now, {}, sent, {}, id, false, {});
    QVERIFY(empty && empty->before.empty());
    trace::Replay cold;
    for (const trace::Event& event : empty->events) QVERIFY(!cold.apply(event));
    QCOMPARE(cold.progress().requests.begin()->second.cachedTokens, std::int64_t{0});
  }

  void whatCannotBeToldSaysWhy() {
    SimulatorPredictor predictor;
    const std::string query = ragWith(kMira);
    const std::vector<NamedSimulator> list{{.server = "box", .kind = "ollama"}};
    const auto report = [&](const std::string& place) {
      return predictor.trace(tiny(), parsed(query), query, {}, {}, list, place, true, {})->problem;
    };
    QVERIFY(report("server box").find("Ollama") != std::string::npos);
    QVERIFY(!report("server gone").empty());
    QCOMPARE(report("vllm"), std::string());
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(!predictor.trace(tiny(), parsed(query), query, {}, {}, list, "vllm", true, stop.get_token()));
  }

  void stops() {
    SimulatorPredictor predictor;
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(!predictor.prediction(tiny(), parsed(kNested), {}, {}, {}, stop.get_token()));
    QCOMPARE(predictionOf(predictor, kNested).simulators.size(), std::size_t{4});
  }
};

SPANSCOPE_TEST(tst_simulator_prediction, TestSimulatorPrediction)
#include "tst_simulator_prediction.moc"
