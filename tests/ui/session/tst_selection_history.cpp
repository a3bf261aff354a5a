// SPDX-License-Identifier: GPL-3.0-or-later
// Back and forward through what was selected.
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "ui/session/selection.h"

#include <QObject>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;
using document::NodeId;

class TestSelectionHistory : public QObject {
  Q_OBJECT

 private:
  Document m_document;
  NodeId m_a = 0;
  NodeId m_b = 0;
  NodeId m_c = 0;
  SelectionHistory m_history;

  static Selection of(NodeId node) {
    Selection selection;
    selection.nodes = {node};
    return selection;
  }

 private Q_SLOTS:
  void init() {
    m_document = {};
    m_a = document::addNode(m_document, document::makeOperator("user"));
    m_b = document::addNode(m_document, document::makeOperator("user"));
    m_c = document::addNode(m_document, document::makeOperator("user"));
    m_history = {};
    for (const NodeId node : {m_a, m_b, m_c}) m_history.note(of(node));
  }

  void goesBackAndForward() {
    QVERIFY(!m_history.canGoForward(m_document));
    QVERIFY(m_history.goBack(of(m_c), m_document) == of(m_b));
    QVERIFY(m_history.goBack(of(m_b), m_document) == of(m_a));
    QVERIFY(!m_history.canGoBack(of(m_a), m_document));
    QVERIFY(m_history.goForward(m_document) == of(m_b));
    QVERIFY(m_history.goForward(m_document) == of(m_c));
  }

  void whatIsSelectedAnewEndsForward() {
    m_history.goBack(of(m_c), m_document);
    m_history.note(of(m_a));
    QVERIFY(!m_history.canGoForward(m_document));
    QVERIFY(m_history.goBack(of(m_a), m_document) == of(m_b));
  }

  void goingSomewhereIsNotANewSelection() {
    const auto back = m_history.goBack(of(m_c), m_document);
    m_history.note(*back);
    QVERIFY(m_history.canGoForward(m_document));
  }

  void nodesThatAreGoneArePassedOver() {
    document::removeSubtrees(m_document, {m_b});
    QVERIFY(m_history.goBack(of(m_c), m_document) == of(m_a));
    QVERIFY(m_history.goForward(m_document) == of(m_c));
  }

  void fromNothingBackLeadsToTheLast() {
    m_history.note({});
    QVERIFY(m_history.goBack({}, m_document) == of(m_c));
    QVERIFY(!SelectionHistory().canGoBack({}, m_document));
  }
};

SPANSCOPE_TEST(tst_selection_history, TestSelectionHistory, QApplication)
#include "tst_selection_history.moc"
