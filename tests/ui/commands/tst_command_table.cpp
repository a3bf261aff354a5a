// SPDX-License-Identifier: GPL-3.0-or-later
// The command table holds together, and the key sheet shows all of it.
#include "tests/support/test_program.h"
#include "ui/commands/key_sheet.h"

#include <QByteArray>
#include <QFile>
#include <QIODevice>
#include <QKeySequence>
#include <QObject>
#include <QPushButton>
#include <QRegularExpression>
#include <QSet>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace spanscope;
using namespace spanscope::ui;

class TestCommandTable : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void commandsAreComplete_data();
  void commandsAreComplete();
  void keysAreNotShared_data();
  void keysAreNotShared();
  void idsAreFound();
  void sheetShowsEveryKey();
  void columnsKeepEverySection();
  void sheetIsWrittenAsPdf();
  void unwritablePdfIsAnError();
  void dialogIsPainted();
};

namespace {

void addCommands() {
  QTest::addColumn<int>("index");
  for (std::size_t i = 0; i < commandTable().size(); ++i) {
    QTest::newRow(qPrintable(commandTable()[i].id)) << static_cast<int>(i);
  }
}

}  // namespace

void TestCommandTable::commandsAreComplete_data() {
  addCommands();
}

void TestCommandTable::commandsAreComplete() {
  QFETCH(int, index);
  const CommandInfo& info = commandTable()[static_cast<std::size_t>(index)];
  QVERIFY(QRegularExpression("^[a-z]+\\.[a-z-]+$").match(info.id).hasMatch());
  QVERIFY(!info.text.isEmpty());
  QVERIFY(!info.help.isEmpty());
  QVERIFY2(!info.help.endsWith('.'), "help is a sentence without full stop");
  QVERIFY(info.help != info.text);
  const QStringList categories{"File", "Edit", "Node", "Run", "View", "Learn", "Help"};
  QVERIFY(categories.contains(categoryTitle(info.category)));
  QCOMPARE(info.id.section('.', 0, 0), categoryTitle(info.category).toLower());
  for (const QString& key : info.keys) {
    const QKeySequence sequence(key, QKeySequence::PortableText);
    QVERIFY2(sequence.count() == 1 && sequence[0].key() != Qt::Key_unknown, qPrintable(key));
  }
}

void TestCommandTable::keysAreNotShared_data() {
  addCommands();
}

void TestCommandTable::keysAreNotShared() {
  QFETCH(int, index);
  const CommandInfo& info = commandTable()[static_cast<std::size_t>(index)];
  // Keys of the window work on the canvas too, so that every two scopes overlap.
  for (const CommandInfo& other : commandTable()) {
    for (const QString& key : info.keys) {
      const auto times = std::count_if(other.keys.begin(), other.keys.end(), [&key](const QString& each) {
        return QKeySequence(each) == QKeySequence(key);
      });
      QVERIFY2(times == (other.id == info.id ? 1 : 0), qPrintable(key + " is also a key of " + other.id));
    }
  }
}

void TestCommandTable::idsAreFound() {
  QSet<QString> ids;
  for (const CommandInfo& info : commandTable()) {
    QCOMPARE(findCommand(info.id), &info);
    ids.insert(info.id);
  }
  QCOMPARE(static_cast<std::size_t>(ids.size()), commandTable().size());
  QCOMPARE(findCommand("file.nothing"), nullptr);
  // A command that needs an argument would be useless in a menu.
  for (const QString& id : linkCommands()) QCOMPARE(findCommand(id), nullptr);
}

void TestCommandTable::sheetShowsEveryKey() {
  const std::vector<KeySection> sections = keySheetSections(commandTable());
  QString text = keySheetText(sections);
  for (const CommandInfo& info : commandTable()) {
    if (info.keys.isEmpty()) continue;
    const auto section = std::find_if(sections.begin(), sections.end(), [&info](const KeySection& each) {
      return each.title == categoryTitle(info.category);
    });
    QVERIFY(section != sections.end());
    const auto row = std::find_if(section->rows.begin(), section->rows.end(),
                                  [&info](const KeyRow& each) { return each.text == info.text; });
    QVERIFY2(row != section->rows.end(), qPrintable(info.id));
    QCOMPARE(row->keys.size(), info.keys.size());
    QCOMPARE(row->onCanvas, info.scope == CommandScope::Canvas);
  }
  QCOMPARE(sections.back().title, QString("Canvas"));
  QVERIFY(text.contains("Space + drag"));
  // The wheel alone scrolls.
  QVERIFY(text.contains("Ctrl + wheel"));
  for (const KeyRow& row : sections.back().rows) {
    if (row.keys == QStringList{"Wheel"}) QVERIFY(!row.text.contains("oom"));
  }
}

void TestCommandTable::columnsKeepEverySection() {
  const std::vector<KeySection> sections = keySheetSections(commandTable());
  for (int columns = 1; columns <= 9; ++columns) {
    const auto made = keySheetColumns(sections, columns);
    QVERIFY(std::cmp_less_equal(made.size(), columns));
    std::size_t count = 0;
    for (const auto& column : made) {
      QVERIFY(!column.empty());
      for (const KeySection& section : column) {
        QVERIFY(std::find(sections.begin(), sections.end(), section) != sections.end());
        ++count;
      }
    }
    QCOMPARE(count, sections.size());
  }
}

void TestCommandTable::sheetIsWrittenAsPdf() {
  QTemporaryDir folder;
  const QString path = folder.filePath("keys.pdf");
  const auto error = writeKeySheetPdf(path, keySheetColumns(keySheetSections(commandTable()), 3));
  QVERIFY(!error);
  QFile file(path);
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QByteArray bytes = file.readAll();
  QVERIFY(bytes.startsWith("%PDF-"));
  QCOMPARE(bytes.count("/Type /Page\n"), 1);
}

void TestCommandTable::unwritablePdfIsAnError() {
  const auto error =
      writeKeySheetPdf("/nowhere/keys.pdf", keySheetColumns(keySheetSections(commandTable()), 3));
  QVERIFY(error.has_value());
  QCOMPARE(error->file, std::string("/nowhere/keys.pdf"));
}

void TestCommandTable::dialogIsPainted() {
  for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
    const Theme theme(scheme);
    qApp->setStyleSheet(theme.styleSheet());
    qApp->setPalette(theme.palette());
    KeySheet sheet(commandTable(), theme);
    const QImage picture = sheet.grab().toImage();
    QCOMPARE(picture.pixelColor(4, 4), theme.color(Role::Surface));
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    if (!folder.isEmpty())
      picture.save(folder + (scheme == Scheme::Dark ? "/keys-dark.png" : "/keys-light.png"));
  }
}

SPANSCOPE_TEST(tst_command_table, TestCommandTable, QApplication)
#include "tst_command_table.moc"
