// SPDX-License-Identifier: GPL-3.0-or-later
// Keys that the user has changed: kept, distinct, never given twice, and shown wherever keys are shown.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/commands/command_table.h"
#include "ui/commands/key_sheet.h"

#include <QAction>
#include <QKeySequenceEdit>
#include <QObject>
#include <QPushButton>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

const CommandInfo& command(const char* id) {
  return *findCommand(QString::fromLatin1(id));
}

QPushButton* button(const QWidget& dialog, const QString& text) {
  for (QPushButton* each : dialog.findChildren<QPushButton*>()) {
    if (each->text() == text) return each;
  }
  return nullptr;
}

}  // namespace

class TestKeyBindings : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void areThoseOfTheTable() {
    const KeyBindings keys;
    for (const CommandInfo& info : commandTable()) {
      QCOMPARE(keys.keys(info), info.keys);
      for (const QString& key : info.keys) {
        QVERIFY2(keys.conflicts(info, key).empty(), qPrintable(info.id));
        QVERIFY2(fixedUseOf(key).isEmpty(), qPrintable(key));
      }
    }
  }

  void areKept() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("settings.ini"));
    KeyBindings keys;
    keys.assign(command("node.mute"), QStringLiteral("Ctrl+M"));
    keys.set(command("node.freeze"), {});
    {
      QSettings settings(path, QSettings::IniFormat);
      keys.save(settings);
    }
    QSettings settings(path, QSettings::IniFormat);
    const KeyBindings kept(settings);
    QCOMPARE(kept, keys);
    QCOMPARE(kept.keys(command("node.mute")), (QStringList{QStringLiteral("M"), QStringLiteral("Ctrl+M")}));
    QVERIFY(kept.keys(command("node.freeze")).isEmpty());
    settings.setValue(QStringLiteral("keys/node.mute"), QStringLiteral("no key at all"));
    QVERIFY(KeyBindings(settings).keys(command("node.mute")).isEmpty());
    KeyBindings().save(settings);
    QVERIFY(!KeyBindings(settings).isAnyChanged());
  }

  void noKeyIsGivenTwice() {
    KeyBindings keys;
    const CommandInfo& mute = command("node.mute");
    const auto taken = keys.conflicts(mute, QStringLiteral("Ctrl+D"));
    QCOMPARE(taken.size(), std::size_t{1});
    QCOMPARE(taken.front()->id, QStringLiteral("edit.duplicate"));
    keys.assign(mute, QStringLiteral("Ctrl+D"));
    QVERIFY(keys.keys(command("edit.duplicate")).isEmpty());
    QVERIFY(keys.conflicts(mute, QStringLiteral("Ctrl+D")).empty());
    // A key that begins another would never be heard.
    keys.assign(mute, QStringLiteral("Ctrl+J, A"));
    QCOMPARE(keys.conflicts(command("node.note"), QStringLiteral("Ctrl+J")).size(), std::size_t{1});
    QVERIFY(!fixedUseOf(QStringLiteral("F10")).isEmpty());
  }

  void menusAndSheetSayThem() {
    QWidget window;
    CommandActions actions(&window);
    KeyBindings keys;
    keys.set(command("node.mute"), {QStringLiteral("Ctrl+M")});
    actions.setKeys(keys);
    QCOMPARE(actions.action(QStringLiteral("node.mute"))->shortcut(), QKeySequence(QStringLiteral("Ctrl+M")));
    QVERIFY(actions.action(QStringLiteral("node.mute"))->toolTip().contains(QStringLiteral("(Ctrl+M)")));
    const QString sheet = keySheetText(keySheetSections(keys.table()));
    QVERIFY(sheet.contains(QStringLiteral("Mute: Ctrl+M\n")));
    actions.setKeys({});
    QCOMPARE(actions.action(QStringLiteral("node.mute"))->shortcut(), QKeySequence(QStringLiteral("M")));
  }

  void theEditorTellsAndTakes() {
    KeyEditor editor(KeyBindings{}, Theme{});
    editor.show();
    auto* table = editor.findChild<QTreeWidget*>();
    QCOMPARE(static_cast<std::size_t>(table->topLevelItemCount()), commandTable().size());
    table->setCurrentItem(table->findItems(QStringLiteral("Node: Mute"), Qt::MatchExactly).front());
    auto* field = editor.findChild<QKeySequenceEdit*>();
    field->setKeySequence(QKeySequence(QStringLiteral("Ctrl+D")));
    QPushButton* take = button(editor, QStringLiteral("Reassign key"));
    QVERIFY(take != nullptr && take->isEnabled());
    take->click();
    QCOMPARE(editor.keys().keys(command("node.mute")),
             (QStringList{QStringLiteral("M"), QStringLiteral("Ctrl+D")}));
    QVERIFY(editor.keys().keys(command("edit.duplicate")).isEmpty());
    QVERIFY(table->currentItem()->text(1).contains(QStringLiteral("changed")));
    // Given back to the one that it was taken from.
    table->setCurrentItem(table->findItems(QStringLiteral("Edit: Duplicate"), Qt::MatchExactly).front());
    button(editor, worded("<reset-keys>"))->click();
    QCOMPARE(editor.keys().keys(command("edit.duplicate")), QStringList{QStringLiteral("Ctrl+D")});
    QCOMPARE(editor.keys().keys(command("node.mute")), QStringList{QStringLiteral("M")});
    QVERIFY(!editor.keys().isAnyChanged());
    field->setKeySequence(QKeySequence(Qt::Key_F10));
    QVERIFY(!button(editor, QStringLiteral("Assign key"))->isEnabled());
  }
};

SPANSCOPE_TEST(tst_key_bindings, TestKeyBindings, QApplication)
#include "tst_key_bindings.moc"
