// SPDX-License-Identifier: GPL-3.0-or-later
// What nodes say of the next run is what the run then does, and where the canvas shows it.
#include "engine/layout/layouts.h"
#include "engine/policy/policies.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "tests/ui/editor/canvas_driver.h"
#include "tests/ui/editor/recorded_query.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_scene.h"
#include "ui/editor/node_prediction.h"
#include "ui/words/glossary.h"
#include "ui/words/metric_words.h"

#include <QEvent>
#include <QGraphicsView>
#include <QHelpEvent>
#include <QObject>
#include <QPoint>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QString>
#include <QStringLiteral>
#include <QTest>
#include <QToolTip>

#include <memory>
#include <string>
#include <tuple>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;
using document::NodeId;
using test::nodeAtPath;

namespace {

run::CountRange range(std::int64_t least, std::int64_t most) {
  return {.least = least, .most = most};
}

}  // namespace

class TestNodePrediction : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_recorder = std::make_unique<test::QueryRecorder>();
    m_rag = test::exampleDocument("rag.json");
    m_recorder->run(m_rag);
    m_swapped = m_rag;
    m_plus = nodeAtPath(m_rag, "/g/input/cross/1");
    QVERIFY(document::swapChildren(m_swapped, m_plus, 0, 1));
    m_input = m_recorder->input();
    m_input.document = std::make_shared<const Document>(m_swapped);
    m_input.prediction.newest = m_recorder->predict(m_swapped);
    m_predictions = nodePredictions(*m_input.prediction.newest, m_swapped);
  }

  void everyNodeIsServedAsItWasSaid() {
    m_recorder->run(m_swapped);
    const NodeStatuses statuses = nodeStatuses(m_recorder->input());
    QCOMPARE(m_predictions.size(), std::size_t(6));  // three documents, system, question, generate
    for (const auto& [id, copies] : m_predictions) {
      QCOMPARE(copies.size(), std::size_t(1));
      const NodePrediction& said = copies.front();
      const TokenAccount& served = statuses.at(id).served;
      QVERIFY(said.isCertain);
      QCOMPARE(said.prompt, range(served.total(), served.total()));
      QCOMPARE(said.cached, range(served.hit + served.relocated, served.hit + served.relocated));
      QCOMPARE(said.relocated, range(served.relocated, served.relocated));
      QCOMPARE(said.computed, range(served.computed, served.computed));
      // It came as it was said: there is nothing more to show.
      QVERIFY(predictionBeside(m_predictions, id, statuses.at(id)) == nullptr);
    }
    const NodePrediction& generate = m_predictions.at(m_swapped.root()).front();
    QVERIFY(generate.blocks > 0);
    QVERIFY(generate.foundBlocks < generate.blocks);
  }

  /// A text has the same tokens on its card whether the prompt fits or not: those that the problem counts
  /// too.
  void textsOfPromptsThatDoNotFit() {
    const auto with = [this](int words) {
      std::string text = "a";
      for (int i = 1; i < words; ++i) text += " a";
      const Document document = test::documentFromJson(
          R"({"g":{"model":"","input":{"seq":[{"system":"Be brief."},{"user":")" + text + R"("}]}}})");
      const std::shared_ptr<const DocumentPrediction> prediction = m_recorder->predict(document);
      const auto tokens = promptTokens(*prediction, document);
      const NodePredictions predicted = nodePredictions(*prediction, document);
      return std::tuple(tokens.at(nodeAtPath(document, "/g/input/seq/0")),
                        tokens.at(nodeAtPath(document, "/g/input/seq/1")), predicted.empty());
    };
    const auto [system, ten, isUnfit] = with(10);
    QVERIFY(!isUnfit);
    const auto [sameSystem, many, isManyUnfit] = with(40'000);
    QVERIFY(isManyUnfit);
    QCOMPARE(sameSystem, system);
    QCOMPARE(many, ten + 40'000 - 10);
  }

  void everyPolicyServesAsWasSaid_data() {
    QTest::addColumn<QString>("policy");
    QTest::addColumn<QString>("layout");
    std::vector<std::string> policies = policy::policyNames();
    for (const char* name : {"blend(0.5)", "blend(1)", "relay(0.5)"}) policies.emplace_back(name);
    for (const std::string& policy : policies) {
      for (const layout::LayoutInfo& layout : layout::layouts())
        QTest::addRow("%s, %s", policy.c_str(), layout.name)
            << QString::fromStdString(policy) << QString::fromLatin1(layout.name);
    }
  }
  /// A policy may make several segments of a text, and may compute tokens that no row attends to. The choice
  /// of recomputed tokens may depend on their values; their number does not.
  void everyPolicyServesAsWasSaid() {
    QFETCH(QString, policy);
    QFETCH(QString, layout);
    test::QueryRecorder recorder;
    Document rag = m_rag;
    for (int run = 0; run < 3; ++run) {
      if (run == 2) rag = m_swapped;
      rag.settings.policy = policy.toStdString();
      rag.settings.layout = layout.toStdString();
      const NodePredictions said = nodePredictions(*recorder.predict(rag), rag);
      QCOMPARE(said.size(), std::size_t(6));  // three documents, system, question, generate
      recorder.run(rag);
      const NodeStatuses statuses = nodeStatuses(recorder.input());
      std::int64_t again = 0;
      for (const auto& [id, copies] : said) {
        QCOMPARE(copies.size(), std::size_t(1));
        const NodePrediction& own = copies.front();
        const TokenAccount& served = statuses.at(id).served;
        QVERIFY(own.isCertain);
        QCOMPARE(own.prompt, range(served.total(), served.total()));
        QCOMPARE(own.computed, range(served.computed, served.computed));
        QVERIFY(own.again.holds(served.again));
        QVERIFY(own.cached.holds(served.cached()));
        QVERIFY(own.relocated.holds(served.relocated));
        QCOMPARE(own.cached.least + own.again.most, served.cached() + served.again);
        QCOMPARE(own.cached.most + own.again.least, served.cached() + served.again);
        QVERIFY(predictionBeside(said, id, statuses.at(id)) == nullptr);
        if (id == rag.root()) {
          // Of the prompt as a whole everything is known but which tokens it are.
          QCOMPARE(own.again, range(served.again, served.again));
          QCOMPARE(own.cached, range(served.cached(), served.cached()));
          QCOMPARE(own.beside, range(statuses.at(id).beside, statuses.at(id).beside));
          QCOMPARE(own.padding, std::optional(served.padding));
          QCOMPARE(own.delimiters, std::optional(served.delimiters));
          QCOMPARE(own.cropped, std::optional(served.cropped));
        } else {
          again += served.again;
        }
      }
      QCOMPARE(said.at(rag.root()).front().again.least, again);
      if (run > 0 && policy.startsWith(QLatin1String("blend"))) QVERIFY(again > 0);
    }
  }

  /// A card says of the next run what it says of the last one, in the same words.
  void aTipSaysTheSameBeforeAndAfterARun_data() {
    QTest::addColumn<QString>("policy");
    QTest::addColumn<QString>("layout");
    QTest::addColumn<QString>("words");
    QTest::newRow("blend") << QStringLiteral("blend") << QStringLiteral("exact")
                           << metricShortName("tokens-computed-again");
    QTest::newRow("link, padded") << QStringLiteral("link") << QStringLiteral("padded")
                                  << metricShortName("tokens-beside-the-prompt");
    QTest::newRow("shared prefixes, cropped") << QStringLiteral("shared-prefix") << QStringLiteral("cropped")
                                              << metricShortName("delimiter-tokens");
  }
  void aTipSaysTheSameBeforeAndAfterARun() {
    QFETCH(QString, policy);
    QFETCH(QString, layout);
    QFETCH(QString, words);
    test::QueryRecorder recorder;
    Document next = m_rag;
    next.settings.policy = policy.toStdString();
    next.settings.layout = layout.toStdString();
    recorder.run(next);
    next = m_swapped;
    next.settings.policy = policy.toStdString();
    next.settings.layout = layout.toStdString();
    DocumentModel model(next);
    CanvasCore core;
    core.setModel(&model);
    NodePrediction said = nodePredictions(*recorder.predict(next), next).at(next.root()).front();
    recorder.run(next);
    core.setInput(recorder.input());
    QString after = core.tipOf(next.root()).split(QLatin1Char('\n')).first();
    QVERIFY2(after.contains(words), qPrintable(after));
    if (policy == QLatin1String("blend")) said.relocated = range(0, 0);  // bounds: it chooses among them
    said.blocks = 0;
    QString before = predictionWords(said);
    before.replace(QStringLiteral("Next run"), QStringLiteral("Last run"));
    if (policy == QLatin1String("blend"))
      after.remove(QRegularExpression(QStringLiteral("; \\d+ ") + metricShortName("relocated-tokens")));
    QCOMPARE(before, after);
  }

  /// A text has one count: its tokens in the prompt, before and after it has run.
  void textsCountTheSameBeforeAndAfterARun() {
    test::QueryRecorder recorder;
    DocumentModel model(m_rag);
    CanvasCore core;
    core.setModel(&model);
    ViewInput before;
    before.document = model.snapshot();
    before.trace = std::make_shared<const TraceStore>();
    before.tokenizer = recorder.input(true).tokenizer;
    before.prediction.newest = recorder.predict(m_rag);
    core.setInput(before);
    std::map<NodeId, std::int64_t> said;
    for (const auto& [id, status] : core.statuses()) {
      if (m_rag.at(id).children.empty()) said[id] = status.tokens;
    }
    QCOMPARE(said.size(), std::size_t(5));
    recorder.run(m_rag);
    core.setInput(recorder.input(true));
    for (const auto& [id, tokens] : said) {
      QVERIFY(core.statusOf(id).fromTrace);
      QCOMPARE(core.statusOf(id).tokens, tokens);
    }
  }

  /// A lesson withholds the prediction, but not the counts. An edited text does not keep its old count.
  void textsAreCountedWithoutAPrediction() {
    test::QueryRecorder recorder;
    DocumentModel model(m_rag);
    CanvasCore core;
    core.setModel(&model);
    ViewInput input;
    input.document = model.snapshot();
    input.trace = std::make_shared<const TraceStore>();
    input.tokenizer = recorder.input(true).tokenizer;
    const NodeId question = nodeAtPath(m_rag, "/g/input/cross/2");
    core.setInput(input);
    const std::int64_t ofText = core.statusOf(question).tokens;
    input.prediction = {.isWithheld = true, .counted = recorder.predict(m_rag)};
    core.setInput(input);
    const std::int64_t ofPrompt = core.statusOf(question).tokens;
    QVERIFY(ofPrompt > ofText);
    QVERIFY(core.predictionOf(question) == nullptr);
    model.change(QStringLiteral("edit"), [question](Document& document) {
      query::Node node = document.at(question).own;
      *query::textOf(node) = "Who?";
      document::setOwn(document, question, std::move(node));
    });
    input.document = model.snapshot();
    input.prediction = {.isWithheld = true};
    core.setInput(input);
    QVERIFY(core.statusOf(question).tokens < ofText);
  }

  void boundsHoldARunWithAnswers() {
    const Document judge = test::exampleDocument("judge-4.json");
    const NodePredictions said = nodePredictions(*m_recorder->predict(judge), judge);
    m_recorder->run(judge);
    const NodeStatuses statuses = nodeStatuses(m_recorder->input());
    const NodePrediction& root = said.at(judge.root()).front();
    QVERIFY(!root.isCertain);
    QVERIFY(!root.prompt.known());
    const TokenAccount& served = statuses.at(judge.root()).served;
    QVERIFY(root.prompt.holds(served.total()));
    QVERIFY(root.cached.holds(served.hit + served.relocated));
    QVERIFY(root.computed.holds(served.computed));
    QVERIFY(predictionBadge(root).contains(QStringLiteral("–")));
    QVERIFY(predictionWords(root).contains(QStringLiteral("not known yet")));
  }

  void badges_data() {
    QTest::addColumn<NodePrediction>("prediction");
    QTest::addColumn<QString>("badge");
    const auto row = [](const char* name, run::CountRange prompt, run::CountRange cached, bool certain,
                        const QString& badge) {
      NodePrediction prediction;
      prediction.prompt = prompt;
      prediction.cached = cached;
      prediction.isCertain = certain;
      QTest::newRow(name) << prediction << badge;
    };
    row("known", range(80, 80), range(60, 60), true, QStringLiteral("next 75\u00A0%"));
    row("nothing", range(80, 80), range(0, 0), true, QStringLiteral("next 0\u00A0%"));
    row("all", range(80, 80), range(80, 80), true, QStringLiteral("next 100\u00A0%"));
    row("all but one of many", range(1000, 1000), range(999, 999), true, QStringLiteral("next >99\u00A0%"));
    row("one of many", range(1000, 1000), range(1, 1), true, QStringLiteral("next <1\u00A0%"));
    row("few, or nothing", range(1000, 1000), range(0, 3), false, QStringLiteral("next 0–<1\u00A0%"));
    row("bounds", range(100, 200), range(50, 60), false, QStringLiteral("next 25–60\u00A0%"));
    row("a leaf among replies", range(20, 20), range(10, 10), false, QStringLiteral("next ≈ 50\u00A0%"));
  }
  void badges() {
    QFETCH(NodePrediction, prediction);
    QFETCH(QString, badge);
    QCOMPARE(predictionBadge(prediction), badge);
  }

  void whatIsAsBeforeIsNotSaid() {
    NodePrediction own;
    own.prompt = own.computed = range(80, 80);
    const NodePredictions predictions{{1, {own}}};
    NodeStatus status;
    QVERIFY(predictionBeside(predictions, 2, status) == nullptr);
    QVERIFY(predictionBeside(predictions, 1, status) == nullptr);  // nothing cached, nothing run
    status.served.computed = 70;
    QVERIFY(predictionBeside(predictions, 1, status) == nullptr);  // nor then
    status.served = {.hit = 40, .relocated = 0, .computed = 40};
    QVERIFY(predictionBeside(predictions, 1, status) != nullptr);
  }

  void theCanvasShowsItBesideTheNewestStateOnly() {
    DocumentModel model(m_swapped);
    CanvasCore core;
    core.setModel(&model);
    core.setInput(m_input);
    const NodeId first = m_swapped.at(m_plus).children[0];
    QVERIFY(core.predictionOf(first) != nullptr);
    QCOMPARE(core.predictionOf(first)->relocated, core.predictionOf(first)->prompt);
    const QString ahead = metricShare("cached-tokens", QStringLiteral("20"), "prompt-tokens",
                                      QStringLiteral("20"), QStringLiteral("100\u00A0%"));
    QVERIFY(core.tipOf(first).contains(metricShare("cached-tokens", 0, "prompt-tokens", 20)));
    QVERIFY(core.tipOf(first).contains(ahead));
    QVERIFY(core.predictionOf(m_plus) == nullptr);
    QVERIFY2(core.tipOf(m_plus).contains(explain(u"plus")), "a join says what it promises");
    QVERIFY(!core.tipOf(first).contains(explain(u"plus")));

    core.setPredictionsShown(false);
    QVERIFY(core.predictionOf(first) == nullptr);
    core.setPredictionsShown(true);
    QVERIFY(core.predictionOf(first) != nullptr);

    ViewInput earlier = m_input;
    --earlier.position;
    core.setInput(earlier);
    QVERIFY(core.predictionOf(first) == nullptr);
    core.setInput(m_input);
    QVERIFY(core.predictionOf(first) != nullptr);

    ViewInput unknown = m_input;
    auto prediction = std::make_shared<DocumentPrediction>(*m_input.prediction.newest);
    prediction->gap = PredictionGap::Asks;
    unknown.prediction.newest = prediction;
    core.setInput(unknown);
    QVERIFY(core.predictionOf(first) == nullptr);
  }

  /// Between two predictions the nodes keep the present one: nothing but the edited node changes.
  void typingChangesNoPrediction() {
    DocumentModel model(m_swapped);
    CanvasCore core;
    core.setModel(&model);
    core.setInput(m_input);
    QSignalSpy drawn(&core, &CanvasCore::drawnChanged);
    QSignalSpy statuses(&core, &CanvasCore::statusesChanged);
    const NodeId question = nodeAtPath(m_swapped, "/g/input/cross/2");
    model.change(QStringLiteral("Text"), [question](Document& document) {
      query::Node own = document.at(question).own;
      own.as<query::Message>()->text += "!";
      document::setOwn(document, question, std::move(own));
    });
    ViewInput pending = m_input;
    pending.document = model.snapshot();
    pending.prediction.isPending = true;
    core.setInput(pending);
    QCOMPARE(drawn.count(), 0);
    QCOMPARE(statuses.count(), 1);
    QVERIFY(core.predictionOf(m_swapped.at(m_plus).children[0]) != nullptr);
  }

  void itIsReadAndToldByATip() {
    test::CanvasDriver driver(m_swapped);
    ViewInput input = m_input;
    input.document = driver.model().snapshot();
    driver.setInput(input);
    const NodeId first = m_swapped.at(m_plus).children[0];
    const auto spoken = [&] { return driver.accessible(first)->text(QAccessible::Name); };
    QVERIFY(spoken().contains(metricShare("cached-tokens", QStringLiteral("20"), "prompt-tokens",
                                          QStringLiteral("20"), QStringLiteral("100\u00A0%"))));
    QVERIFY(spoken().contains(metricPhrase("relocated-tokens", 20)));
    QWidget* viewport = driver.canvas().findChild<QGraphicsView*>()->viewport();
    const auto tipAt = [viewport](QPoint at) {
      QHelpEvent help(QEvent::ToolTip, at, viewport->mapToGlobal(at));
      QApplication::sendEvent(viewport, &help);
      return QToolTip::text();
    };
    QVERIFY(tipAt(driver.center(first)).contains(QStringLiteral("Next run: 20 of 20")));
    takePictures(driver, input);
    driver.key(Qt::Key_F, Qt::ShiftModifier);
    QVERIFY(!spoken().contains(QStringLiteral("Next run")));
    driver.key(Qt::Key_F, Qt::ShiftModifier);
    QVERIFY(spoken().contains(QStringLiteral("Next run")));
  }

 private:
  /// With SPANSCOPE_PICTURES set to a folder.
  static void takePictures(test::CanvasDriver& driver, ViewInput input) {
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    if (folder.isEmpty()) return;
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      input.theme = Theme(scheme);
      driver.setInput(input);
      const QString name = scheme == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light");
      QVERIFY(driver.canvas().grab().save(folder + QStringLiteral("/node-prediction-") + name +
                                          QStringLiteral(".png")));
    }
  }

  std::unique_ptr<test::QueryRecorder> m_recorder;
  Document m_rag;
  Document m_swapped;
  NodeId m_plus = document::kNoNode;
  ViewInput m_input;
  NodePredictions m_predictions;
};

SPANSCOPE_TEST(tst_node_prediction, TestNodePrediction, QApplication)
#include "tst_node_prediction.moc"
