// SPDX-License-Identifier: GPL-3.0-or-later
// The state that the canvas keeps from change to change equals a rebuilt state.
#include "engine/workbench/document/edits.h"
#include "tests/engine/workbench/document/random_document.h"
#include "tests/support/test_program.h"
#include "tests/ui/editor/recorded_query.h"
#include "ui/document/document_model.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_scene.h"
#include "ui/editor/tidy_layout.h"

#include <QDebug>
#include <QObject>
#include <QSignalSpy>
#include <QStringLiteral>
#include <QTest>

#include <memory>
#include <random>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;
using document::NodeId;
using test::nodeAtPath;

class TestCanvasCore : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_recorder = std::make_unique<test::QueryRecorder>();
    m_rag = test::exampleDocument("rag.json");
    m_recorder->run(m_rag);
    m_input = m_recorder->input(true);
  }

  void textIsTypedWithoutAnotherLayout() {
    DocumentModel model(m_rag);
    CanvasCore core;
    core.setModel(&model);
    core.setInput(m_input);
    const CanvasScene scene(core, nullptr);
    const NodeId question = nodeAtPath(m_rag, "/g/input/cross/2");
    const NodeStatus before = core.statusOf(question);
    QVERIFY(before.fromTrace);
    QSignalSpy drawn(&core, &CanvasCore::drawnChanged);
    QSignalSpy looks(&core, &CanvasCore::looksChanged);
    QSignalSpy statuses(&core, &CanvasCore::statusesChanged);
    write(model, question, "Which pet does Tarek have, and where does it sleep?");
    QCOMPARE(drawn.count(), 0);
    QCOMPARE(looks.count(), 1);
    QCOMPARE(statuses.count(), 1);
    QVERIFY(core.looks().at(question).text.startsWith(QStringLiteral("Which pet")));
    QVERIFY(!core.statusOf(question).fromTrace);  // the run had another text
    model.undoStack().undo();
    QCOMPARE(drawn.count(), 0);
    QCOMPARE(core.statusOf(question), before);
    compare(core, scene);
    // One line is a smaller card than two.
    write(model, question, "Where?");
    QCOMPARE(drawn.count(), 1);
    compare(core, scene);
  }

  void anyEditsLeaveItAsIfMadeAnew() {
    const unsigned seed = 20261121;
    qInfo("seed %u", seed);
    std::mt19937 random(seed);
    DocumentModel model(m_rag);
    CanvasCore core;
    core.setModel(&model);
    core.setInput(m_input);
    const CanvasScene scene(core, nullptr);
    QSignalSpy looks(&core, &CanvasCore::looksChanged);
    for (int i = 0; i < 400; ++i) {
      const std::vector<NodeId> ids = model.document().ids();
      switch (random() % 5) {
        case 0:
          model.change(QStringLiteral("Edit"),
                       [&random](Document& document) { document::testing::randomEdit(document, random); });
          break;
        case 1:
          if (random() % 2 == 0) model.undoStack().undo();
          break;
        case 2:
          if (!ids.empty()) {
            Document preview = model.document();
            document::testing::randomEdit(preview, random);
            core.setPreview(std::move(preview));
          }
          break;
        default:
          if (!ids.empty()) editOwnFields(model, ids[random() % ids.size()], random);
      }
      if (!core.hasPreview()) compare(core, scene);
      if (QTest::currentTestFailed()) {
        qWarning("after edit %d", i);
        return;
      }
    }
    QVERIFY(looks.count() > 50);
  }

 private:
  static void write(DocumentModel& model, NodeId id, const std::string& text) {
    model.change(QStringLiteral("Text"), [&](Document& document) {
      query::Node own = document.at(id).own;
      own.as<query::Message>()->text = text;
      document::setOwn(document, id, std::move(own));
    });
  }

  static void editOwnFields(DocumentModel& model, NodeId id, std::mt19937& random) {
    const std::string text(random() % 60, 'a');
    model.change(QStringLiteral("Own"), [&](Document& document) {
      query::Node own = document.at(id).own;
      if (auto* message = own.as<query::Message>()) {
        message->text = text;
      } else if (auto* generate = own.as<query::Generate>()) {
        generate->settings.model = text;
      } else {
        document::setName(document, id, text);
      }
      document::setOwn(document, id, std::move(own));
    });
  }

  void compare(const CanvasCore& core, const CanvasScene& scene) const {
    const auto layout = tidyLayout(core.document());
    SegmentRecords book;
    const TraceStore none;
    const ViewInput* shown = core.input();
    const SegmentIdentities identities = shown == nullptr
                                             ? book.read(core.document(), none, {})
                                             : book.read(core.document(), *shown->trace, shown->paths);
    const auto looks = nodeLooks(core.document(), layout, identities);
    QCOMPARE(core.layout(), layout);
    QCOMPARE(core.looks(), looks);
    ViewInput input = m_input;
    input.document = std::make_shared<const Document>(core.document());
    QCOMPARE(core.statuses(), nodeStatuses(input));
    std::size_t items = 0;
    for (const QGraphicsItem* item : scene.items()) {
      const auto* node = qgraphicsitem_cast<const NodeItem*>(item);
      if (node == nullptr) continue;
      QCOMPARE(node->look(), looks.at(node->id()));
      ++items;
    }
    QCOMPARE(items, looks.size());
  }

  std::unique_ptr<test::QueryRecorder> m_recorder;
  Document m_rag;
  ViewInput m_input;
};

SPANSCOPE_TEST(tst_canvas_core, TestCanvasCore, QApplication)
#include "tst_canvas_core.moc"
