// SPDX-License-Identifier: GPL-3.0-or-later
// Every action that a lesson can have is bound to the window, and targets are found in documents and runs.
#include "engine/lesson/actions.h"
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "tests/support/test_program.h"
#include "ui/lessons/lesson_actions.h"

#include <QObject>
#include <QTest>

#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

class TestLessonActions : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyActionIsBound() {
    QCOMPARE(actionRows().size(), lesson::actions().size());
    for (std::size_t i = 0; i < actionRows().size(); ++i) {
      const lesson::ActionInfo& info = lesson::actions()[i];
      const ActionRow& row = actionRows()[i];
      QVERIFY2(row.kind == info.kind, info.words);
      const bool isDocument = info.effect == lesson::ActionEffect::Document;
      QVERIFY2((row.step == ActionStep::Document) == isDocument, info.words);
      // What neither changes the document nor computes shows something.
      if (info.effect == lesson::ActionEffect::View) QVERIFY2(row.note != nullptr, info.words);
    }
  }

  void actionsAreNoted() {
    LessonView view;
    const auto note = [&view](const char* line) {
      std::vector<lesson::Fault> faults;
      const auto action = lesson::readAction(line, 0, faults);
      QVERIFY2(action.has_value(), line);
      actionRow(action->kind).note(view, *action);
    };
    note("dock pool");
    note("layout explain");
    QVERIFY(view.docks.empty());
    note("dock why");
    note("dock tokens");
    note("dock why");
    QCOMPARE(view.docks, std::vector<std::string>({"tokens", "why"}));
    note("select block:2");
    note("scrub event:token_generated");
    note("zoom selection");
    note("compare with run 1");
    QVERIFY(view.target && view.target->kind == lesson::Target::Kind::Block && view.target->number == 2);
    QVERIFY(view.moment && view.moment->event == "token_generated");
    QCOMPARE(view.zoom, std::string("selection"));
    QCOMPARE(view.compared, 1U);
    QCOMPARE(view.docks.back(), std::string("compare"));
    note("dock pool");
    note("run");
    QVERIFY(!view.moment);
    QCOMPARE(view.compared, 0U);
    QCOMPARE(view.docks, std::vector<std::string>({"tokens", "why", "pool"}));
    note("compare with run 1");
    note("layout author");
    QVERIFY(view.docks.empty() && view.compared == 0);
  }

  void aSelectionMovesWithItsNode() {
    std::vector<lesson::Fault> faults;
    const auto swap = lesson::readAction("swap node:/g/input/plus/0 node:/g/input/plus/1", 0, faults);
    QVERIFY(swap.has_value());
    LessonView view;
    const auto moved = [&](lesson::Target target) {
      view.target = std::move(target);
      actionRow(swap->kind).note(view, *swap);
      return *view.target;
    };
    const auto node = [](const char* path) {
      return lesson::Target{.kind = lesson::Target::Kind::Node, .node = path};
    };
    QVERIFY(moved(node("/g/input/plus/1")) == node("/g/input/plus/0"));
    QVERIFY(moved(node("/g/input/plus/0/cross/1")) == node("/g/input/plus/1/cross/1"));
    // The path of another child can begin with the same digits.
    QVERIFY(moved(node("/g/input/plus/10")) == node("/g/input/plus/10"));
    const lesson::Target block{.kind = lesson::Target::Kind::Block, .number = 1};
    QVERIFY(moved(block) == block);
  }

  void nodesAreFoundByTheirPaths() {
    const query::ParseResult parsed =
        query::parseJson(R"({"g": {"model": "m", "input": {"cross": [{"system": "a"}, {"user": "b"}]}}})");
    QVERIFY(parsed.query.has_value());
    const document::Document document = document::fromQuery(*parsed.query);
    const auto second = selectionOf({lesson::Target::Kind::Node, "/g/input/cross/1", 0}, document, nullptr);
    QVERIFY(second && second->nodes.size() == 1);
    QCOMPARE(query::writeCanonical(document.at(second->nodes.front()).own), std::string(R"({"user":"b"})"));
    QVERIFY(!selectionOf({lesson::Target::Kind::Node, "/g/input/cross/2", 0}, document, nullptr));
    // Of a run that was not made, nothing can be selected.
    QVERIFY(!selectionOf({lesson::Target::Kind::Block, {}, 1}, document, nullptr));
  }
};

SPANSCOPE_TEST(tst_lesson_actions, TestLessonActions, QCoreApplication)
#include "tst_lesson_actions.moc"
