// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the order of the messages of requests, the feed of the cache simulators, and the comparison of
// orders.
#include "engine/export/chat_requests.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/servers/cache_order.h"
#include "engine/workbench/servers/order_comparison.h"
#include "engine/workbench/servers/price_list.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::workbench;

namespace {

std::string document(const std::string& name) {
  std::string text = name + ":";
  for (int i = 0; i < 40; ++i) text += " " + name + std::to_string(i);
  return text;
}

std::string queryOf(const std::vector<std::string>& documents, const std::string& first = {}) {
  std::string plus;
  for (const std::string& name : documents)
    plus += (plus.empty() ? "" : ",") + (R"({"user":")" + document(name) + R"("})");
  return R"({"g":{"model":"m","max_tokens":4,"input":{"cross":[{"system":"Answer."},{"plus":[)" + first +
         plus + R"(]},{"user":"Which one?"}]}}})";
}

plan::Plan planOf(const std::string& json) {
  plan::PlanOptions options;
  options.distribute = false;
  return *plan::makePlan(*query::parseJson(json).query, options).plan;
}

exports::ChatRequest requestOf(const std::string& json) {
  return exports::chatRequests(*query::parseJson(json).query).requests.at(0);
}

struct Model {
  std::shared_ptr<const text::Tokenizer> tokenizer = text::loadTokenizer(modelDirectoryOf(RunSettings()));
  const text::ChatTemplate& chat = chatTemplateOf(RunSettings());
};

/// A server, and the orderer of one run on it.
struct Served {
  Model model;
  remote::RemoteTarget target;
  std::shared_ptr<ServerSimulators> simulators = std::make_shared<ServerSimulators>();
  std::unique_ptr<CacheOrderer> orderer;

  explicit Served(remote::ServerKind kind, bool keepsOrder = false, bool hasOrderNote = false) {
    target.name = "gpu-3";
    target.facts.kind = kind;
    orderer = std::make_unique<CacheOrderer>(simulators, model.tokenizer, model.chat);
    orderer->use(target, keepsOrder, hasOrderNote);
  }
  /// Sends a request, and returns its order. `brokenBy`: why the request has no answer.
  std::optional<remote::SentOrder> send(exports::ChatRequest& request, const std::string& brokenBy = {}) {
    std::optional<remote::SentOrder> order = target.arrange(0, request);
    orderer->sends(0, target);
    remote::RemoteStep step;
    step.brokenBy = brokenBy;
    if (brokenBy.empty()) {
      step.answer.text = "One";
      step.answer.finish = "stop";
    }
    orderer->ends(step);
    return order;
  }
};

}  // namespace

class TestCacheOrder : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void groupsOfRequests() {
    const exports::ChatRequest request = requestOf(queryOf({"a", "b", "c"}));
    QCOMPARE(request.messages.size(), std::size_t{5});
    QCOMPARE(request.groups.size(), std::size_t{1});
    QCOMPARE(request.groups.front().bounds, (std::vector<std::size_t>{1, 2, 3, 4}));
    const exports::ChatRequest nested =
        requestOf(queryOf({"a"}, R"({"cross":[{"user":"x"},{"plus":[{"user":"y"},{"user":"z"}]}]},)"));
    QCOMPARE(nested.groups.size(), std::size_t{2});
    QCOMPARE(nested.groups[0].bounds, (std::vector<std::size_t>{1, 4, 5}));
    QCOMPARE(nested.groups[1].bounds, (std::vector<std::size_t>{2, 3, 4}));
  }

  void sendsTheCachedOrder_data() {
    QTest::addColumn<int>("kind");
    QTest::newRow("vLLM") << int(remote::ServerKind::Vllm);
    QTest::newRow("SGLang") << int(remote::ServerKind::Sglang);
    QTest::newRow("llama.cpp") << int(remote::ServerKind::LlamaCpp);
    QTest::newRow("a server without a simulator") << int(remote::ServerKind::Ollama);
  }
  void sendsTheCachedOrder() {
    QFETCH(int, kind);
    Served served(static_cast<remote::ServerKind>(kind));
    exports::ChatRequest first = requestOf(queryOf({"a", "b", "c"}));
    const auto before = served.send(first);
    QVERIFY(before);
    QCOMPARE(before->cached, 0);
    // The same documents in another written order.
    exports::ChatRequest again = requestOf(queryOf({"c", "a", "b"}));
    const auto order = served.send(again);
    QVERIFY(order);
    QVERIFY(order->cached > order->tokens * 3 / 4);
    for (std::size_t i = 0; i < first.messages.size(); ++i)
      QCOMPARE(again.messages[i].content, first.messages[i].content);
    QVERIFY(!order->isMoved() || order->sent.front().size() == 3);
    // Each message keeps its own node.
    QVERIFY(again.messages[1].node != first.messages[1].node || !order->isMoved());
    const std::string text = remote::orderText(*order);
    QVERIFY(text.find(std::to_string(order->cached) + " of " + std::to_string(order->tokens)) !=
            std::string::npos);
  }

  /// A moved order without cached tokens has a reason.
  void explainsAnOrderWithoutHits() {
    remote::SentOrder order{.messages = {1, 0}, .tokens = 20, .cached = 0, .asWritten = 0};
    QVERIFY(product_text::says(remote::orderText(order), "<order-for-later>"));
    order.cached = 8;
    QVERIFY(!product_text::says(remote::orderText(order), "<order-for-later>"));
    order.messages = {0, 1};
    order.cached = 0;
    QVERIFY(!product_text::says(remote::orderText(order), "<order-for-later>"));
  }

  /// The sent order has the names that the user knows, else numbers with the beginning of the texts.
  void namesTheSentChildren() {
    const remote::SentChildren sent{
        {{.number = 2, .node = "/g/input/plus/1/seq/0", .beginning = "The second"},
         {.number = 1, .node = "/g/input/plus/0", .beginning = "The first"}}};
    const remote::NodeNames names{{"/g/input/plus/1", "b.txt"}, {"/g/input/plus/0", "a.txt"}};
    QCOMPARE(remote::childrenText(sent, names), std::string("b.txt, a.txt"));
    // The name of a node above all children says nothing.
    const std::string numbered = remote::childrenText(sent);
    QCOMPARE(remote::childrenText(sent, {{"/g", "My query"}}), numbered);
    QCOMPARE(remote::childrenText(sent, {{"/g/input/plus/0", "a.txt"}}), numbered);
    const std::size_t second = numbered.find("2");
    QVERIFY(second < numbered.find("The second") && numbered.find("The second") < numbered.find("1"));
    remote::SentChildren silent = sent;
    for (remote::SentChild& child : silent.front()) child.beginning.clear();
    const std::string plain = remote::childrenText(silent);
    QVERIFY2(plain.find_first_of("(“") == std::string::npos, plain.c_str());
  }

  void refusedPromptsAreNotCached() {
    Served served(remote::ServerKind::Vllm);
    exports::ChatRequest refused = requestOf(queryOf({"a", "b", "c"}));
    QVERIFY(served.send(refused, "status 400"));
    exports::ChatRequest again = requestOf(queryOf({"a", "b", "c"}));
    QCOMPARE(served.send(again)->cached, std::int64_t{0});
    exports::ChatRequest third = requestOf(queryOf({"a", "b", "c"}));
    QVERIFY(served.send(third)->cached > 0);
  }

  void keepsTheWrittenOrder() {
    Served served(remote::ServerKind::Vllm, true);
    exports::ChatRequest request = requestOf(queryOf({"a", "b", "c"}));
    const exports::ChatRequest written = request;
    QVERIFY(!served.send(request));
    QCOMPARE(request, written);
    Served spans(remote::ServerKind::Spnl);
    QVERIFY(!spans.send(request));
    QCOMPARE(request, written);
  }

  void systemMessagesStayFirst() {
    Served served(remote::ServerKind::Sglang);
    exports::ChatRequest request = requestOf(queryOf({"b", "a"}, R"({"system":"s"},)"));
    const exports::ChatRequest written = request;
    static_cast<void>(served.send(request));
    QCOMPARE(request.messages, written.messages);
  }

  void notesTheWrittenOrder() {
    Served served(remote::ServerKind::Sglang, false, true);
    exports::ChatRequest first = requestOf(queryOf({"a", "b", "c"}));
    static_cast<void>(served.send(first));
    // The order that was sent, backwards.
    std::vector<std::string> documents;
    const std::size_t last = first.groups.front().bounds.back() - 1;
    for (std::size_t message = last; message >= 1; --message)
      documents.push_back(first.messages[message].content.substr(0, 1));
    exports::ChatRequest second = requestOf(queryOf(documents));
    const auto order = served.send(second);
    QVERIFY(order && order->isMoved());
    QCOMPARE(order->children, std::string("3, 2, 1"));
    QVERIFY(order->noteTokens > 0);
    QCOMPARE(order->notes.size(), std::size_t{1});
    QCOMPARE(second.messages.size(), std::size_t{6});
    QVERIFY(second.messages[4].content.ends_with("3, 2, 1."));
  }

  /// Each outer plus whose children change places has a note, after its last child.
  void notesOfSeveralPluses() {
    const exports::ChatRequest request = requestOf(
        R"({"g":{"model":"m","input":{"cross":[{"plus":[{"user":"a"},{"user":"b"}]},{"user":"then"},)"
        R"({"plus":[{"user":"c"},{"cross":[{"user":"x"},{"plus":[{"user":"d"},{"user":"e"}]}]}]},)"
        R"({"user":"Which?"}]}}})");
    QCOMPARE(request.groups.size(), std::size_t{3});
    QVERIFY(orderNotes(request, {0, 1, 2, 3, 4, 5, 6, 7}).empty());
    // Only the children of the inner plus change places.
    QVERIFY(orderNotes(request, {0, 1, 2, 3, 4, 6, 5, 7}).empty());
    const auto last = orderNotes(request, {0, 1, 2, 4, 5, 6, 3, 7});
    QCOMPARE(last.size(), std::size_t{1});
    QCOMPARE(last.front().group, std::size_t{1});
    QCOMPARE(last.front().place, std::size_t{7});
    const auto both = orderNotes(request, {1, 0, 2, 4, 5, 6, 3, 7});
    QCOMPARE(both.size(), std::size_t{2});
    QCOMPARE(both.front().place, std::size_t{2});
    QCOMPARE(both.back().place, std::size_t{8});
    QVERIFY(both.front().text.ends_with("2, 1."));
  }

  void comparesOrdersAndSpans() {
    const Model model;
    const auto simulator = simulator::kVllm.open({.cacheTokens = 0, .blockSize = 16, .slots = 0, .chunk = 0});
    OrderComparison comparison(*simulator, {}, false);
    const auto serve = [&](const std::string& json) {
      return comparison.serve(planOf(json), *model.tokenizer, model.chat, 16, 8);
    };
    OrderReuse sum = serve(queryOf({"a", "b", "c"}));
    QCOMPARE(sum.best, 0);
    QCOMPARE(sum.asSpans, 0);
    QVERIFY(sum.hasChoice);
    const OrderReuse swapped = serve(queryOf({"c", "b", "a"}));
    QVERIFY(swapped.asWritten < swapped.prompt / 4);
    QVERIFY(swapped.best > swapped.prompt * 3 / 4);
    QVERIFY(swapped.asSpans > swapped.prompt * 3 / 4);
    // Another set of documents is no beginning, but one of its spans is stored.
    const OrderReuse other = serve(queryOf({"d", "c"}));
    QVERIFY(other.best < other.prompt / 4);
    QVERIFY(other.asSpans > other.prompt / 4);
    // A plus with one child has no choice.
    QVERIFY(!serve(queryOf({"c"})).hasChoice);
    sum += swapped;
    QCOMPARE(sum.orders.size(), std::size_t{2});
  }

  /// The prediction for a server has the order that a run sends, after the orders that were sent.
  void predictsTheSentOrder() {
    const Model model;
    const PromptModel promptModel{.id = "m", .tokenizer = model.tokenizer, .chat = &model.chat};
    SentQuery sent{.run = 1, .queryJson = queryOf({"a", "b", "c"}), .settings = {}, .answers = {}};
    sent.answers[{"", 0}] = {.text = "One", .server = "gpu-3"};
    NamedSimulator named{.server = "gpu-3", .kind = "vllm"};
    const auto predicted = [&] {
      SimulatorPredictor predictor;
      const auto made = predictor.prediction(promptModel, *query::parseJson(queryOf({"c", "b", "a"})).query,
                                             {}, {sent}, {named}, {});
      return made->simulators.back();
    };
    const SimulatorPrediction best = predicted();
    const std::int64_t all = best.orders.prompt;
    QCOMPARE(best.server, std::string("gpu-3"));
    QVERIFY(best.orders.best > all * 3 / 4);
    QVERIFY(best.orders.asWritten < all / 4);
    QCOMPARE(std::int64_t(best.present.at(0).cached), best.orders.best);
    QCOMPARE(best.prompts.size(), std::size_t{1});
    named.keepsOrder = true;
    const SimulatorPrediction written = predicted();
    QVERIFY(written.prompts.empty());
    QCOMPARE(std::int64_t(written.present.at(0).cached), written.orders.asWritten);
    // The earlier query was sent backwards, so the written order is a hit now.
    sent.answers[{"", 0}].order.messages = {0, 3, 2, 1, 4};
    QVERIFY(predicted().orders.asWritten > all * 3 / 4);
  }

  /// The predicted prompts have the notes that a run sends.
  void predictsTheNotes() {
    Served served(remote::ServerKind::Vllm, false, true);
    const std::string written = queryOf({"a", "b", "c"});
    const std::string swapped = queryOf({"c", "b", "a"});
    SentQuery sent{.run = 1, .queryJson = written, .settings = {}, .answers = {}};
    exports::ChatRequest first = requestOf(written);
    const auto firstOrder = served.send(first);
    QVERIFY(firstOrder);
    sent.answers[{"", 0}] = {.text = "One",
                             .server = "gpu-3",
                             .order = {.messages = firstOrder->messages, .notes = firstOrder->notes}};
    const PromptModel promptModel{.id = "m", .tokenizer = served.model.tokenizer, .chat = &served.model.chat};
    const auto predicted = [&](const std::vector<SentQuery>& all, bool hasOrderNote) {
      SimulatorPredictor predictor;
      const NamedSimulator named{.server = "gpu-3", .kind = "vllm", .hasOrderNote = hasOrderNote};
      return predictor.prediction(promptModel, *query::parseJson(swapped).query, {}, all, {named}, {})
          ->simulators.back();
    };
    const SimulatorPrediction next = predicted({sent}, true);
    const SimulatorPrediction plain = predicted({sent}, false);
    exports::ChatRequest second = requestOf(swapped);
    const auto order = served.send(second);
    QVERIFY(order && order->noteTokens > 0);
    QCOMPARE(next.prompts.at(0).tokens(),
             chatTokens(second.messages, *served.model.tokenizer, served.model.chat));
    QCOMPARE(next.orders.noteTokens, order->noteTokens);
    QCOMPARE(next.orders.bestPrompt(), order->tokens);
    QCOMPARE(next.present.at(0).cached, next.orders.best);
    QCOMPARE(plain.orders.noteTokens, std::int64_t{0});
    QCOMPARE(std::int64_t(plain.prompts.at(0).tokens().size()), order->tokens - order->noteTokens);
    // The note is a section of the plus itself.
    const auto sections = std::ranges::count_if(next.prompts.at(0).table.parts, [](const auto& part) {
      return part.node == "/g/input/cross/1" && !part.inPlus;
    });
    QCOMPARE(sections, 1);
    // The second query was sent with its note: everything but the last block is a hit.
    SentQuery again{.run = 2, .queryJson = swapped, .settings = {}, .answers = {}};
    again.answers[{"", 0}] = {
        .text = "One", .server = "gpu-3", .order = {.messages = order->messages, .notes = order->notes}};
    const SimulatorPrediction repeated = predicted({sent, again}, true);
    QCOMPARE(repeated.present.at(0).cached, (repeated.orders.bestPrompt() - 1) / 16 * 16);
  }

  void prices() {
    const QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("spanscope/prices.json").toStdString();
    PriceList list(file);
    QVERIFY(list.list().empty());
    list.put({.name = "vllm", .input = 2, .cached = 0.5, .output = 8});
    list.put({.name = "a-model", .input = 1});
    QCOMPARE(PriceList(file).list().front().name, std::string("a-model"));
    QCOMPARE(list.find("vllm")->ofPrompt(1'000'000, 2'000'000), 3.0);
    QVERIFY_THROWS_EXCEPTION(Failure, list.put({.name = "x", .input = -1}));
    QVERIFY(list.remove("vllm"));
    QVERIFY(!list.remove("vllm"));
    std::ofstream(file) << "[]";
    QVERIFY_THROWS_EXCEPTION(Failure, list.list());
    QCOMPARE(priceText(0.0012345), std::string("0.00123"));
  }
};

SPANSCOPE_TEST(tst_cache_order, TestCacheOrder)
#include "tst_cache_order.moc"
