// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/document/document_model.h"

#include <QSignalSpy>
#include <QTest>

using namespace spanscope::document;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

void type(DocumentModel& model, NodeId id, const char* name, const QString& key) {
  model.change(
      QStringLiteral("Type"), [&](Document& document) { setName(document, id, name); }, key);
}

Document oneNode() {
  Document document;
  addNode(document, makeOperator("user"));
  return document;
}

}  // namespace

class TestDocumentModel : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatChangesNothingIsNoCommand();
  void mergesTyping();
  void mergingEnds();
  void mergingBackLeavesNothing();
  void snapshotsStay();
  void knowsWhetherItIsModified();
  void changesThatAnswerAChangeComeAfterIt();
  void nothingChangesWhileAnUndoIsTold();
  void settingsHaveAHistoryOfTheirOwn();
  void settingsAreNamedInTheirHistory();
  void aChangeOfBothIsInBothHistories();
  void hasATitle();
};

void TestDocumentModel::whatChangesNothingIsNoCommand() {
  DocumentModel model(oneNode());
  const QSignalSpy changed(&model, &DocumentModel::changed);
  QVERIFY(!model.change(QStringLiteral("Nothing"), [](Document&) {}));
  QVERIFY(!model.change(QStringLiteral("Refused"),
                        [](Document& value) { spanscope::document::disconnect(value, 1); }));
  QCOMPARE(changed.count(), 0);
  QCOMPARE(model.undoStack().count(), 0);
}

void TestDocumentModel::mergesTyping() {
  DocumentModel model(oneNode());
  const NodeId id = model.document().root();
  type(model, id, "a", QStringLiteral("text:1"));
  type(model, id, "ab", QStringLiteral("text:1"));
  type(model, id, "abc", QStringLiteral("text:1"));
  QCOMPARE(model.undoStack().count(), 1);
  model.undoStack().undo();
  QCOMPARE(model.document().at(id).name, std::string());
  model.undoStack().redo();
  QCOMPARE(model.document().at(id).name, std::string("abc"));
}

void TestDocumentModel::mergingEnds() {
  DocumentModel model(oneNode());
  const NodeId id = model.document().root();
  type(model, id, "a", QStringLiteral("text:1"));
  model.endMerge();
  type(model, id, "ab", QStringLiteral("text:1"));
  QCOMPARE(model.undoStack().count(), 2);
  type(model, id, "x", QStringLiteral("text:2"));
  QCOMPARE(model.undoStack().count(), 3);
  model.undoStack().undo();
  type(model, id, "abc", QStringLiteral("text:1"));
  QCOMPARE(model.undoStack().count(), 3);
  model.markSaved();
  type(model, id, "abcd", QStringLiteral("text:1"));
  QCOMPARE(model.undoStack().count(), 4);
}

void TestDocumentModel::mergingBackLeavesNothing() {
  DocumentModel model(oneNode());
  const NodeId id = model.document().root();
  type(model, id, "a", QStringLiteral("text:1"));
  type(model, id, "", QStringLiteral("text:1"));
  QCOMPARE(model.undoStack().count(), 0);
  QVERIFY(!model.isModified());
}

void TestDocumentModel::snapshotsStay() {
  DocumentModel model(oneNode());
  const auto before = model.snapshot();
  const Document copy = *before;
  type(model, model.document().root(), "a", {});
  QVERIFY(*before == copy);
  QVERIFY(model.document() != copy);
}

void TestDocumentModel::knowsWhetherItIsModified() {
  DocumentModel model(oneNode());
  QSignalSpy state(&model, &DocumentModel::stateChanged);
  type(model, model.document().root(), "a", {});
  QVERIFY(model.isModified());
  model.markSaved();
  QVERIFY(!model.isModified());
  model.undoStack().undo();
  QVERIFY(model.isModified());
  model.undoStack().redo();
  QVERIFY(!model.isModified());
  QCOMPARE(state.count(), 4);
}

/// A view that answers a change with another change gets its command after the one it answers.
void TestDocumentModel::changesThatAnswerAChangeComeAfterIt() {
  DocumentModel model(oneNode());
  const Document first = model.document();
  bool answered = false;
  connect(&model, &DocumentModel::changed, &model, [&] {
    if (answered) return;
    answered = true;
    model.change(QStringLiteral("Answer"), [](Document& document) { document.settings.seed = 2; });
  });
  QVERIFY(model.change(QStringLiteral("Ask"), [](Document& document) { document.settings.blockSize = 4; }));
  QCOMPARE(model.settingsUndoStack().count(), 2);
  QCOMPARE(model.settingsUndoStack().text(0), QStringLiteral("Block size: 16 tokens → 4 tokens"));
  QCOMPARE(model.settingsUndoStack().text(1), QStringLiteral("Seed: 0 → 2"));
  const Document last = model.document();
  QCOMPARE(last.settings.seed, std::uint64_t(2));
  QCOMPARE(last.settings.blockSize, 4);
  model.settingsUndoStack().undo();
  QCOMPARE(model.document().settings.seed, first.settings.seed);
  QCOMPARE(model.document().settings.blockSize, 4);
  model.settingsUndoStack().undo();
  QVERIFY(model.document() == first);
  model.settingsUndoStack().redo();
  model.settingsUndoStack().redo();
  QVERIFY(model.document() == last);
}

void TestDocumentModel::nothingChangesWhileAnUndoIsTold() {
  DocumentModel model(oneNode());
  model.change(QStringLiteral("Seed"), [](Document& document) { document.settings.seed = 7; });
  const Document last = model.document();
  bool refused = false;
  connect(&model, &DocumentModel::changed, &model, [&] {
    refused = !model.change(QStringLiteral("Late"), [](Document& document) { document.settings.seed = 99; });
  });
  model.settingsUndoStack().undo();
  QVERIFY(refused);
  QVERIFY(model.settingsUndoStack().canRedo());
  model.settingsUndoStack().redo();
  QVERIFY(model.document() == last);
}

void TestDocumentModel::settingsHaveAHistoryOfTheirOwn() {
  DocumentModel model(oneNode());
  const NodeId id = model.document().root();
  type(model, id, "a", {});
  model.change(QStringLiteral("Policy"), [](Document& document) { document.settings.policy = "prefix"; });
  type(model, id, "b", {});
  QCOMPARE(model.undoStack().count(), 2);
  QCOMPARE(model.settingsUndoStack().count(), 1);
  // Each undo leaves the other's values as they are, and so does each redo.
  model.undoStack().undo();
  QCOMPARE(model.document().at(id).name, std::string("a"));
  QCOMPARE(model.document().settings.policy, std::string("prefix"));
  model.settingsUndoStack().undo();
  QCOMPARE(model.document().at(id).name, std::string("a"));
  QCOMPARE(model.document().settings.policy, std::string("spans"));
  model.undoStack().undo();
  model.settingsUndoStack().redo();
  QCOMPARE(model.document().at(id).name, std::string());
  QCOMPARE(model.document().settings.policy, std::string("prefix"));
  model.undoStack().redo();
  model.undoStack().redo();
  QCOMPARE(model.document().at(id).name, std::string("b"));
  QCOMPARE(model.document().settings.policy, std::string("prefix"));
  QVERIFY(model.isModified());
  model.markSaved();
  QVERIFY(!model.isModified());
  model.settingsUndoStack().undo();
  QVERIFY(model.isModified());
  model.settingsUndoStack().redo();
  QVERIFY(!model.isModified());
}

void TestDocumentModel::settingsAreNamedInTheirHistory() {
  DocumentModel model(oneNode());
  const auto last = [&](const std::function<void(RunSettings&)>& change, const QString& key = {}) {
    model.change(
        QStringLiteral("Choice"), [&](Document& document) { change(document.settings); }, key);
    return model.settingsUndoStack().undoText();
  };
  QCOMPARE(last([](RunSettings& settings) { settings.policy = "prefix"; }),
           QStringLiteral("Reuse policy: spans → prefix"));
  QCOMPARE(last([](RunSettings& settings) { settings.distribute = false; }),
           worded("<distribute-plus-into>: on → off"));
  QCOMPARE(last([](RunSettings& settings) { settings.cacheDiskMebibytes = 512; }),
           worded("<keep-disk>: nothing → 512 MiB"));
  QCOMPARE(last([](RunSettings& settings) {
             settings.layers = {0, 2};
           }),
           QStringLiteral("Layers: all → 0, 2"));
  QCOMPARE(last([](RunSettings& settings) { settings.standsFor = std::string(100, 'x'); }),
           QStringLiteral("Also accepts: nothing → %1…").arg(QString(27, QLatin1Char('x'))));
  QCOMPARE(last([](RunSettings& settings) { settings.model = "/models/a", settings.standsFor.clear(); }),
           QStringLiteral("Choice: Checkpoint, Also accepts"));
  // What is typed in one go is named from its first value to its last.
  last([](RunSettings& settings) { settings.seed = 1; }, QStringLiteral("seed"));
  QCOMPARE(last([](RunSettings& settings) { settings.seed = 12; }, QStringLiteral("seed")),
           QStringLiteral("Seed: 0 → 12"));
}

void TestDocumentModel::aChangeOfBothIsInBothHistories() {
  DocumentModel model(oneNode());
  const Document first = model.document();
  QSignalSpy changed(&model, &DocumentModel::changed);
  model.change(QStringLiteral("Reload"), [](Document& document) {
    setName(document, document.root(), "a");
    document.settings.seed = 3;
  });
  QCOMPARE(changed.count(), 1);
  QCOMPARE(model.undoStack().undoText(), QStringLiteral("Reload"));
  QCOMPARE(model.settingsUndoStack().undoText(), QStringLiteral("Seed: 0 → 3"));
  model.undoStack().undo();
  QCOMPARE(model.document().settings.seed, std::uint64_t(3));
  model.settingsUndoStack().undo();
  QVERIFY(model.document() == first);
}

void TestDocumentModel::hasATitle() {
  DocumentModel model;
  QVERIFY(!model.title().isEmpty());
  model.setTitle(QStringLiteral("Untitled 2"));
  QCOMPARE(model.title(), QStringLiteral("Untitled 2"));
  model.setFilePath(QStringLiteral("/somewhere/rag.span"));
  QCOMPARE(model.title(), QStringLiteral("rag.span"));
}

SPANSCOPE_TEST(tst_document_model, TestDocumentModel, QCoreApplication)
#include "tst_document_model.moc"
