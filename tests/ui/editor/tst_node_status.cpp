// SPDX-License-Identifier: GPL-3.0-or-later
// States of nodes on recorded runs of the bundled model, and on events that are made up.
#include "engine/query/node_parts.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/editor/recorded_query.h"
#include "ui/document/document_model.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_style.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_paint.h"
#include "ui/editor/node_prediction.h"
#include "ui/editor/node_status.h"
#include "ui/editor/tidy_layout.h"
#include "ui/session/prompt_parts.h"

#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;
using document::NodeId;
using product_text::worded;
using test::nodeAtPath;

class TestNodeStatus : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_recorder = std::make_unique<test::QueryRecorder>();
    m_rag = test::exampleDocument("rag.json");
    m_recorder->run(m_rag);
    m_cold = m_recorder->input();
    // The same nodes in another order.
    m_swapped = m_rag;
    QVERIFY(document::swapChildren(m_swapped, nodeAtPath(m_rag, "/g/input/cross/1"), 0, 1));
    m_recorder->run(m_swapped);
    m_warm = m_recorder->input();
  }

  void aColdRunIsComputed() {
    const NodeStatuses statuses = nodeStatuses(m_cold);
    const NodeStatus& system = statuses.at(nodeAtPath(m_rag, "/g/input/cross/0"));
    QVERIFY(system.fromTrace);
    QCOMPARE(system.tokens, std::int64_t(13));
    QCOMPARE(system.served, (TokenAccount{.hit = 0, .relocated = 0, .computed = 13}));
    QCOMPARE(system.cachedShare(), QStringLiteral("0\u00A0%"));
    const NodeStatus& generate = statuses.at(m_rag.root());
    QCOMPARE(generate.phase, NodePhase::Finished);
    QCOMPARE(generate.tokens, std::int64_t(83));
    QCOMPARE(generate.generated, std::int64_t(8));
    QCOMPARE(generate.copies, 1U);
    QCOMPARE(generate.served, (TokenAccount{.hit = 0, .relocated = 0, .computed = 83}));
    QVERIFY(!generate.answer.empty());
  }

  /// A card names its step as the views of the run do.
  void anAnswerNamesItsStep() {
    test::QueryRecorder recorder;
    const Document judge = test::exampleDocument("judge-2.json");
    recorder.run(judge);
    const ViewInput input = recorder.input();
    const trace::Progress& progress = input.state().progress();
    std::size_t inner = 0;
    for (const auto& [id, status] : nodeStatuses(input)) {
      if (status.request == 0) continue;
      const trace::RequestState& request = progress.requests.at(status.request);
      const auto names = stepNames(input, progress, request.run);
      QCOMPARE(status.step, names.at(request.step));
      if (id == judge.root()) continue;
      ++inner;
      NodeLook look;
      setOwnLook(look, judge.at(id), "spanlet");
      look.answers = true;
      look.rect = {.x = 0, .y = 0, .width = kCardWidth, .height = kGenerateHeight};
      QVERIFY(look.title != status.step);
      const NodeTexts texts = makeNodeTexts(look, status, nullptr, CanvasStyle(Theme()), 1);
      QVERIFY2(texts.title.text.contains(status.step), qPrintable(texts.title.text));
    }
    QVERIFY(inner >= 1);
  }

  void swappedDocumentsAreRelocated() {
    const NodeStatuses statuses = nodeStatuses(m_warm);
    const NodeStatus& first = statuses.at(nodeAtPath(m_swapped, "/g/input/cross/1/plus/0"));
    const NodeStatus& second = statuses.at(nodeAtPath(m_swapped, "/g/input/cross/1/plus/1"));
    const NodeStatus& third = statuses.at(nodeAtPath(m_swapped, "/g/input/cross/1/plus/2"));
    QCOMPARE(first.served, (TokenAccount{.hit = 0, .relocated = 20, .computed = 0}));
    QCOMPARE(second.served, (TokenAccount{.hit = 0, .relocated = 18, .computed = 0}));
    QCOMPARE(third.served, (TokenAccount{.hit = 19, .relocated = 0, .computed = 0}));
    QCOMPARE(first.cachedShare(), QStringLiteral("100\u00A0%"));
    const NodeStatus& generate = statuses.at(m_swapped.root());
    const auto& metrics = m_warm.state().progress().requests.rbegin()->second.metrics;
    QVERIFY(metrics.has_value());
    QCOMPARE(generate.served.hit + generate.served.relocated, metrics->cachedTokens);
    QCOMPARE(generate.served.relocated, metrics->relocatedTokens);
    QCOMPARE(generate.served.computed, metrics->computedTokens);
    // What the leaves say adds up to what the generate says, but for the template's own last token.
    TokenAccount sum;
    for (const auto& [id, status] : statuses) {
      if (id == m_swapped.root()) continue;
      sum.hit += status.served.hit;
      sum.relocated += status.served.relocated;
      sum.computed += status.served.computed;
    }
    QCOMPARE(sum.hit, generate.served.hit);
    QCOMPARE(sum.relocated, generate.served.relocated);
    QCOMPARE(sum.computed + 1, generate.served.computed);
  }

  /// What an inner step computed and what the outer step reuses of it are two things.
  void aLeafSaysWhatItsOwnStepDid() {
    const Document judge = test::documentFromJson(
        R"({"g": {"model": "spnl/spanlet", "max_tokens": 4, "temperature": 0, "input": {"cross": [
           {"plus": [{"g": {"model": "spnl/spanlet", "max_tokens": 4, "temperature": 0,
                            "input": {"user": "Mira lives in Lisbon, and Otto lives in Oslo. Where is Mira?"}}},
                     {"user": "Nadia has a dog."}]},
           {"user": "Which is the best?"}]}}})");
    test::QueryRecorder recorder;
    recorder.run(judge);
    const NodeStatuses statuses = nodeStatuses(recorder.input());
    const NodeStatus& inner = statuses.at(nodeAtPath(judge, "/g/input/cross/0/plus/0/g/input"));
    QCOMPARE(inner.cachedShare(), QStringLiteral("0\u00A0%"));
    QCOMPARE(inner.served.computed, inner.tokens);
    QCOMPARE(inner.outer.cached(), inner.tokens);
    const NodeStatus& outer = statuses.at(nodeAtPath(judge, "/g/input/cross/0/plus/1"));
    QCOMPARE(outer.served.total(), outer.tokens);
    QCOMPARE(outer.outer, TokenAccount());
    // The next run says the same of both.
    ViewInput input = recorder.input();
    const auto prediction = recorder.predict(judge);
    QVERIFY(prediction && prediction->isKnown());
    const NodePredictions next = nodePredictions(*prediction, judge);
    const NodePrediction& leaf = next.at(nodeAtPath(judge, "/g/input/cross/0/plus/0/g/input")).front();
    QVERIFY(leaf.prompt.holds(inner.tokens));
  }

  /// Where a run was stopped while it read its prompt, the rest is not said to be computed.
  void aStoppedRunHasReadWhatItRead() {
    std::size_t admitted = 0;
    for (std::size_t i = 0; i < m_cold.trace->size() && admitted == 0; ++i) {
      if (std::holds_alternative<trace::RequestAdmitted>(m_cold.trace->event(i).payload)) admitted = i + 1;
    }
    QVERIFY(admitted > 0);
    auto trace = std::make_shared<TraceStore>();
    for (std::size_t i = 0; i < admitted; ++i) trace->append(m_cold.trace->event(i));
    // While it runs, nothing is said to be computed before a pass has computed it.
    ViewInput running = m_cold;
    running.trace = trace;
    running.position = trace->size();
    for (const auto& [id, status] : nodeStatuses(running)) {
      QCOMPARE(status.served.computed, std::int64_t(0));
      if (status.fromTrace) QCOMPARE(status.unread, status.tokens);
    }
    trace::Event stopped = m_cold.trace->event(admitted - 1);
    ++stopped.sequence;
    stopped.payload = trace::StepFinished{.step = 0, .outcome = trace::StepOutcome::Stopped, .text = {}};
    trace->append(std::move(stopped));
    ViewInput input = m_cold;
    input.trace = trace;
    input.position = trace->size();
    const NodeStatuses statuses = nodeStatuses(input);
    const NodeStatus& generate = statuses.at(m_rag.root());
    QCOMPARE(generate.phase, NodePhase::Stopped);
    QCOMPARE(generate.served.computed, std::int64_t(0));
    QCOMPARE(generate.unread, std::int64_t(83));
    const NodeStatus& system = statuses.at(nodeAtPath(m_rag, "/g/input/cross/0"));
    QCOMPARE(system.served.computed, std::int64_t(0));
    QCOMPARE(system.unread, system.tokens);
  }

  /// After a change of model, an answer is that of the model that gave it.
  void anAnswerIsOfTheModelThatGaveIt() {
    ViewInput input = m_cold;
    auto record = std::make_shared<RunRecord>();
    record->run = input.paths.begin()->first;
    record->model = QStringLiteral("spanlet");
    record->settings = m_rag.settings;
    input.records = std::make_shared<const RunRecords>(RunRecords{record});
    QVERIFY(nodeStatuses(input).at(m_rag.root()).answeredBy.empty());
    Document other = m_rag;
    other.settings.model = "/models/other";
    input.document = std::make_shared<const Document>(other);
    const NodeStatuses statuses = nodeStatuses(input);
    QCOMPARE(statuses.at(m_rag.root()).answeredBy, std::string("spanlet"));
    QVERIFY(!statuses.at(m_rag.root()).answer.empty());
    // Its tokens are not those of the other model.
    const auto system = statuses.find(nodeAtPath(m_rag, "/g/input/cross/0"));
    QVERIFY(system == statuses.end() || !system->second.fromTrace);
    other.settings = m_rag.settings;
    other.settings.server = "gpu-3";
    input.document = std::make_shared<const Document>(other);
    QCOMPARE(nodeStatuses(input).at(m_rag.root()).answeredBy, std::string("spanlet"));
  }

  void aCardNamesWhoWouldAnswer() {
    Document document = m_rag;
    const auto answerer = [&] { return answererOf(document, document.at(document.root()), "spanlet"); };
    QCOMPARE(answerer(), std::string("spanlet"));
    document.settings.server = "gpu-3";
    QCOMPARE(answerer(), std::string("gpu-3"));
    document::setServer(document, document.root(), document::kEmbedded);
    QCOMPARE(answerer(), std::string("spanlet"));
    document.settings.server.clear();
    document::setServer(document, document.root(), "gpu-4");
    QCOMPARE(answerer(), std::string("gpu-4"));
  }

  void sourcesSayWhatTheAnswerReadOfThem() {
    const NodeStatuses statuses = nodeStatuses(m_warm);
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
      const double looked =
          statuses.at(nodeAtPath(m_swapped, "/g/input/cross/1/plus/" + std::to_string(i))).looked;
      QVERIFY(looked >= 0);
      sum += looked;
    }
    QVERIFY(std::abs(sum - 1) < 1e-6);
    // The question is Tarek's, whose document is first.
    QVERIFY(statuses.at(nodeAtPath(m_swapped, "/g/input/cross/1/plus/0")).looked > 0.4);
    QCOMPARE(statuses.at(nodeAtPath(m_swapped, "/g/input/cross/2")).looked, -1.0);
    QCOMPARE(statuses.at(m_swapped.root()).looked, -1.0);
    // Another text was not read.
    Document edited = m_swapped;
    const NodeId first = nodeAtPath(m_swapped, "/g/input/cross/1/plus/0");
    query::Node own = edited.at(first).own;
    *query::textOf(own) += " And more.";
    QVERIFY(document::setOwn(edited, first, std::move(own)));
    ViewInput input = m_warm;
    input.document = std::make_shared<const Document>(edited);
    const NodeStatuses later = nodeStatuses(input);
    QVERIFY(later.count(first) == 0 || later.at(first).looked < 0);
  }

  void theCacheChangesNothing() {
    NodeStatusCache cache;
    for (std::size_t count = 0; count <= m_warm.trace->size(); count += 7) {
      ViewInput input = m_warm;
      input.position = count;
      QCOMPARE(nodeStatuses(input, cache), nodeStatuses(input));
    }
  }

  void theAnswerStreams() {
    ViewInput input = m_warm;
    std::size_t shortest = 1000;
    std::size_t longest = 0;
    bool ran = false;
    bool waited = false;
    for (std::size_t count = 0; count <= input.trace->size(); ++count) {
      input.position = count;
      if (input.state().progress().runs.size() != 1) continue;
      const NodeStatuses statuses = nodeStatuses(input);
      const auto found = statuses.find(m_rag.root());
      if (found == statuses.end()) continue;
      waited = waited || found->second.phase == NodePhase::Waiting;
      if (found->second.phase != NodePhase::Running) continue;
      ran = true;
      shortest = std::min(shortest, found->second.answer.size());
      longest = std::max(longest, found->second.answer.size());
    }
    QVERIFY(waited);
    QVERIFY(ran);
    QCOMPARE(shortest, std::size_t(0));
    QVERIFY(longest > 10);
  }

  /// What is cached is read at once, the rest pass by pass.
  void readingThePromptIsCounted() {
    for (const ViewInput& whole : {m_cold, m_warm}) {
      std::int64_t last = 0;
      RequestId request = 0;
      for (std::size_t count = 0; count <= whole.trace->size(); ++count) {
        ViewInput input = whole;
        input.position = count;
        const NodeStatuses statuses = nodeStatuses(input);
        const auto found = statuses.find(m_rag.root());
        if (found == statuses.end() || found->second.phase != NodePhase::Running) continue;
        const NodeStatus& status = found->second;
        if (status.request != request) QCOMPARE(status.read, status.served.hit + status.served.relocated);
        if (status.request != request) last = 0;
        request = status.request;
        QVERIFY(status.read >= last && status.read <= status.tokens);
        last = status.read;
        if (status.generated > 0) QCOMPARE(status.read, status.tokens);
      }
      QVERIFY(request != 0);
    }
  }

  void anotherTextHasNoServedTokens() {
    ViewInput input = m_recorder->input(true);
    Document changed = m_swapped;
    const NodeId leaf = nodeAtPath(changed, "/g/input/cross/2");
    QVERIFY(document::setOwn(changed, leaf, {query::Message{.role = query::Role::User, .text = "Who?"}}));
    input.document = std::make_shared<const Document>(changed);
    const NodeStatus status = nodeStatuses(input).at(leaf);
    QVERIFY(!status.fromTrace);
    QCOMPARE(status.served.total(), std::int64_t(0));
    QCOMPARE(status.tokens, std::int64_t(input.tokenizer->encode("Who?").size()));
    QVERIFY(status.cachedShare().isEmpty());
  }

  /// A text that is edited, run, and edited back differs from the text of the newest run. The shares of the
  /// older run would be beside those of the newest run.
  void anEarlierTextHasNoServedTokens() {
    test::QueryRecorder recorder;
    recorder.run(m_rag);
    const NodeId leaf = nodeAtPath(m_rag, "/g/input/cross/2");
    const NodeId other = nodeAtPath(m_rag, "/g/input/cross/0");
    Document changed = m_rag;
    QVERIFY(document::setOwn(changed, leaf, {query::Message{.role = query::Role::User, .text = "Who?"}}));
    recorder.run(changed);
    ViewInput input = recorder.input(true);
    QVERIFY(nodeStatuses(input).at(leaf).served.total() > 0);
    input.document = std::make_shared<const Document>(m_rag);
    const NodeStatus status = nodeStatuses(input).at(leaf);
    QVERIFY(status.hasOtherText);
    QCOMPARE(status.served.total(), std::int64_t(0));
    QCOMPARE(status.tokens, nodeStatuses(m_cold).at(leaf).tokens);
    QVERIFY(nodeStatuses(input).at(other).served.total() > 0);
    // A stack has no share of only some of its texts.
    DocumentModel model(m_rag);
    CanvasCore core;
    core.setModel(&model);
    input.document = model.snapshot();
    core.setInput(input);
    Stack stack;
    stack.members = {other};
    QVERIFY(core.statusOf(stack).served.total() > 0);
    stack.members.push_back(leaf);
    QCOMPARE(core.statusOf(stack).served.total(), std::int64_t(0));
    QVERIFY(core.statusOf(stack).tokens > status.tokens);
  }

  /// A question and a file get their text when they are run: their tokens in the prompt are theirs.
  void questionsAndFilesHaveWhatRan_data() {
    QTest::addColumn<QString>("op");
    QTest::newRow("ask") << QStringLiteral("ask");
    QTest::newRow("file") << QStringLiteral("file");
  }

  void questionsAndFilesHaveWhatRan() {
    QFETCH(QString, op);
    ViewInput input = m_recorder->input(true);
    Document changed = m_swapped;
    const NodeId leaf = nodeAtPath(changed, "/g/input/cross/2");
    const std::int64_t tokens = nodeStatuses(input).at(leaf).tokens;
    QVERIFY(document::replaceOperator(changed, leaf, op.toStdString()));
    input.document = std::make_shared<const Document>(changed);
    const NodeStatus status = nodeStatuses(input).at(leaf);
    QVERIFY(status.fromTrace);
    QCOMPARE(status.tokens, tokens);
    input.paths.clear();
    QCOMPARE(nodeStatuses(input).count(leaf), std::size_t(0));
  }

  void aDocumentThatNeverRanIsCounted() {
    ViewInput input = m_recorder->input(true);
    input.paths.clear();
    const NodeStatuses statuses = nodeStatuses(input);
    const NodeStatus& system = statuses.at(nodeAtPath(m_swapped, "/g/input/cross/0"));
    QVERIFY(!system.fromTrace);
    const auto* message = m_swapped.at(nodeAtPath(m_swapped, "/g/input/cross/0")).own.as<query::Message>();
    QCOMPARE(system.tokens, std::int64_t(input.tokenizer->encode(message->text).size()));
    QVERIFY(statuses.count(m_swapped.root()) == 0);
    input.tokenizer.reset();
    QVERIFY(nodeStatuses(input).empty());
  }

  void copiesOfARepeat() {
    const Document judge = test::exampleDocument("judge-2.json");
    test::QueryRecorder recorder;
    recorder.run(judge);
    ViewInput input = recorder.input();
    const NodeId repeat = nodeAtPath(judge, "/g/input/cross/1/plus/0");
    const NodeStatus newest = nodeStatuses(input).at(repeat);
    QCOMPARE(newest.copies, 2U);
    QCOMPARE(newest.copy, 1U);
    const std::map<std::uint32_t, RequestId> requests = requestsOfNode(input, repeat);
    QCOMPARE(requests.size(), std::size_t(2));
    input.selection.request = requests.at(0);
    const NodeStatus first = nodeStatuses(input).at(repeat);
    QCOMPARE(first.copy, 0U);
    QVERIFY(first.answer != newest.answer);
    // Inner prompts are in the outer prompt once for each answer; their leaves are counted once.
    const NodeId leaf = nodeAtPath(judge, "/g/input/cross/1/plus/0/repeat/g/input/cross/0");
    QCOMPARE(nodeStatuses(input).at(leaf).tokens, std::int64_t(12));
  }

  void aFailureSaysWhy() {
    const Document document = test::documentFromJson(R"({"g": {"model": "m", "input": {"user": "Hello"}}})");
    auto trace = std::make_shared<TraceStore>();
    const auto send = [&trace](RequestId request, trace::Payload payload) {
      trace::Event event;
      event.sequence = trace->size() + 1;
      event.session = 1;
      event.run = request == 0 && trace->size() == 0 ? 0 : 1;
      event.request = request;
      event.payload = std::move(payload);
      trace->append(std::move(event));
    };
    trace::SessionStarted session;
    session.pool.blocks.resize(1);
    send(0, session);
    send(0, trace::RunStarted{.queryJson = "{}", .policy = "spans", .seed = 0});
    send(1, trace::StepStarted{});
    send(1,
         trace::MessageLogged{.severity = Severity::Error, .text = "The prompt does not fit\nby 3 blocks"});
    send(1, trace::StepFinished{.step = 0, .outcome = trace::StepOutcome::Failed, .text = {}});
    QVERIFY(trace->contradictions().empty());
    ViewInput input;
    input.document = std::make_shared<const Document>(document);
    input.position = trace->size();
    input.trace = trace;
    input.paths[1] = document::toQuery(document, document::TakeOut::Nothing).paths;
    const NodeStatus status = nodeStatuses(input).at(document.root());
    QCOMPARE(status.phase, NodePhase::Failed);
    QCOMPARE(status.failure, std::string("The prompt does not fit"));
  }

  void anAugmentSaysWhatItFound() {
    const Document document = test::documentFromJson(
        R"({"g": {"model": "m", "input": {"augment": {"embedding_model": "e", "body": {"user": "Who?"},
            "doc": ["notes.txt", {"Text": "Mira lives in Lisbon."}]}}}})");
    const NodeId augment = document.at(document.root()).children.at(0);
    QVERIFY(document.at(augment).own.as<query::Augment>() != nullptr);
    auto trace = std::make_shared<TraceStore>();
    const auto send = [&trace](RunId run, const NodePath& node, trace::Payload payload) {
      trace::Event event;
      event.sequence = trace->size() + 1;
      event.session = 1;
      event.run = run;
      event.node = node;
      event.payload = std::move(payload);
      trace->append(std::move(event));
    };
    trace::SessionStarted session;
    session.pool.blocks.resize(1);
    send(0, {}, session);
    send(1, {}, trace::RunStarted{.queryJson = "{}", .policy = "spans", .seed = 0});
    trace::PassagesRetrieved retrieved;
    retrieved.passages.resize(3);
    for (std::size_t i = 0; i < 3; ++i) {
      retrieved.passages[i].rank = i == 0 ? 2 : i == 1 ? 1 : 3;
      retrieved.passages[i].score = i == 1 ? 8.5 : 1;
      retrieved.passages[i].inPrompt = i < 2;
    }
    ViewInput input;
    input.document = std::make_shared<const Document>(document);
    input.trace = trace;
    input.position = trace->size();
    input.paths[1] = document::toQuery(document, document::TakeOut::Nothing).paths;
    QCOMPARE(passagesText(nodeStatuses(input)[augment]), QString());
    for (const auto& [path, node] : input.paths[1].byPath) {
      if (node == augment) send(1, path, retrieved);
    }
    input.position = trace->size();
    const NodeStatus status = nodeStatuses(input)[augment];
    QCOMPARE(status.passages, 2);
    QCOMPARE(status.bestScore, 8.5);
    QCOMPARE(passagesText(status), worded("<passages-and-best-score|2|8.50>"));
  }

  void sharesAreRoundedToTheInside() {
    NodeStatus status;
    QVERIFY(status.cachedShare().isEmpty());
    status.served = {.hit = 999, .relocated = 0, .computed = 1};
    QCOMPARE(status.cachedShare(), QStringLiteral(">99\u00A0%"));
    status.served = {.hit = 3, .relocated = 0, .computed = 4029};
    QCOMPARE(status.cachedShare(), QStringLiteral("<1\u00A0%"));
    status.served = {.hit = 1, .relocated = 1, .computed = 0};
    QCOMPARE(status.cachedShare(), QStringLiteral("100\u00A0%"));
    status.unread = 1000;
    QCOMPARE(status.cachedShare(), QStringLiteral("<1\u00A0%"));
  }

  void problemsOfNodes() {
    Document document;
    const NodeId generate = document::addNode(document, document::makeOperator("g"));
    QVERIFY(!nodeProblem(document, generate).isEmpty());
    const NodeId plus = document::addNode(document, document::makeOperator("plus"));
    QVERIFY(!nodeProblem(document, plus).isEmpty());
    QVERIFY(document::connect(document, plus, {.parent = generate, .index = 0}));
    QVERIFY(nodeProblem(document, generate).isEmpty());
    const NodeId user = document::addNode(document, document::makeOperator("user"));
    QVERIFY(document::connect(document, user, {.parent = plus, .index = 0}));
    QVERIFY(nodeProblem(document, plus).isEmpty());
    QVERIFY(nodeProblem(document, user).isEmpty());
  }

 private:
  std::unique_ptr<test::QueryRecorder> m_recorder;
  Document m_rag;
  Document m_swapped;
  ViewInput m_cold;
  ViewInput m_warm;
};

SPANSCOPE_TEST(tst_node_status, TestNodeStatus, QApplication)
#include "tst_node_status.moc"
