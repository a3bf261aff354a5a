// SPDX-License-Identifier: GPL-3.0-or-later
// Finding commands by what is typed, and choosing them with the keyboard.
#include "tests/support/test_program.h"
#include "ui/commands/command_palette.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QListView>
#include <QModelIndex>
#include <QObject>
#include <QSignalSpy>
#include <QString>
#include <QTest>

using namespace spanscope::ui;

class TestCommandPalette : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void matching_data();
  void matching();
  void sentencesAreFoundByWords();
  void otherWordsFind_data();
  void otherWordsFind();
  void bestPlacesAreFound();
  void wordStartsGoFirst();
  void modelIsSound();
  void emptyFilterListsTheTable();
  void filterFindsByNameCategoryAndHelp();
  void returnChoosesTheFirst();
  void arrowsWalk();
  void disabledIsNotChosen();
  void escapeCloses();
  void nothingFits();
  void picture();
};

namespace {

std::vector<PaletteEntry> allEntries() {
  return paletteEntries(commandTable(), [](const QString&) { return true; });
}

QString firstFor(const QString& wanted) {
  PaletteModel model;
  model.setEntries(allEntries());
  model.setFilter(wanted);
  return model.idAt(0);
}

}  // namespace

void TestCommandPalette::otherWordsFind_data() {
  QTest::addColumn<QString>("wanted");
  QTest::addColumn<QString>("id");
  QTest::newRow("rotation") << "rotation"
                            << "view.dock:rotation";
  QTest::newRow("capital letters") << "RoPE"
                                   << "view.dock:rotation";
  QTest::newRow("cancel") << "cancel"
                          << "run.stop";
  QTest::newRow("prediction") << "predict"
                              << "view.dock:prediction";
  QTest::newRow("two words") << "time travel"
                             << "view.dock:scrubber";
  QTest::newRow("swap up") << "swap"
                           << "node.move-up";
  QTest::newRow("swap down") << "swap"
                             << "node.move-down";
  QTest::newRow("another order") << "layout explain"
                                 << "view.explain";
  QTest::newRow("dark") << "dark mode"
                        << "view.theme";
}

/// Users type the field's words, which are not always those of the command.
void TestCommandPalette::otherWordsFind() {
  QFETCH(const QString, wanted);
  QFETCH(const QString, id);
  std::vector<PaletteEntry> entries = allEntries();
  for (const char* dock : {"rotation", "prediction", "scrubber"}) {
    CommandInfo info;
    info.id = QStringLiteral("view.dock:") + QLatin1String(dock);
    info.category = CommandCategory::View;
    info.text = QStringLiteral("dock");
    entries.push_back({.info = std::move(info)});
  }
  PaletteModel model;
  model.setEntries(std::move(entries));
  model.setFilter(wanted);
  QStringList first;
  for (int row = 0; row < std::min(3, model.rowCount()); ++row) first += model.idAt(row);
  QVERIFY2(first.contains(id), qPrintable(first.join(QLatin1Char(' '))));
}

void TestCommandPalette::matching_data() {
  QTest::addColumn<QString>("wanted");
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("matches");
  QTest::newRow("nothing wanted") << ""
                                  << "Open" << true;
  QTest::newRow("nothing wanted of nothing") << ""
                                             << "" << true;
  QTest::newRow("something of nothing") << "a"
                                        << "" << false;
  QTest::newRow("whole") << "open"
                         << "Open" << true;
  QTest::newRow("subsequence") << "rsl"
                               << "Run selected" << true;
  QTest::newRow("order matters") << "lsr"
                                 << "Run selected" << false;
  QTest::newRow("spaces do not matter") << "run sel"
                                        << "Run selected" << true;
  QTest::newRow("case does not matter") << "RUN"
                                        << "run" << true;
  QTest::newRow("every letter once") << "oo"
                                     << "Open" << false;
  QTest::newRow("longer than the text") << "opened"
                                        << "Open" << false;
  QTest::newRow("umlaut") << "Ö"
                          << "öffnen" << true;
}

void TestCommandPalette::matching() {
  QFETCH(QString, wanted);
  QFETCH(QString, text);
  QFETCH(bool, matches);
  const auto match = fuzzyMatch(wanted, text);
  QCOMPARE(match.has_value(), matches);
  if (!match) return;
  const QString letters = QString(wanted).remove(' ').toCaseFolded();
  QCOMPARE(static_cast<qsizetype>(match->positions.size()), letters.size());
  for (qsizetype i = 0; i < letters.size(); ++i) {
    const qsizetype place = match->positions[static_cast<std::size_t>(i)];
    QCOMPARE(text[place].toCaseFolded(), letters[i]);
    if (i > 0) QVERIFY(place > match->positions[static_cast<std::size_t>(i - 1)]);
  }
}

void TestCommandPalette::sentencesAreFoundByWords() {
  CommandInfo sentence;
  sentence.id = QStringLiteral("learn.lesson:11");
  sentence.text = QStringLiteral("Lesson: What span queries save on a conversation");
  std::vector<PaletteEntry> entries = allEntries();
  entries.push_back({.info = sentence, .byWords = true});
  PaletteModel model;
  model.setEntries(entries);
  const auto isFound = [&](const char* wanted) {
    model.setFilter(QString::fromLatin1(wanted));
    for (int row = 0; row < model.rowCount({}); ++row) {
      if (model.idAt(row) == sentence.id) return true;
    }
    return false;
  };
  QVERIFY(isFound("conversation") && isFound("span conv") && isFound("LESSON") && isFound(""));
  QVERIFY(!isFound("swap") && !isFound("wsq") && !isFound("conversation zebra"));
}

void TestCommandPalette::bestPlacesAreFound() {
  // The first s is not the start of "save": a greedy search would miss the unbroken run.
  QCOMPARE(fuzzyMatch(u"save", u"xs Save").value().positions, (std::vector<qsizetype>{3, 4, 5, 6}));
  QCOMPARE(fuzzyMatch(u"sa", u"Save as").value().positions, (std::vector<qsizetype>{0, 1}));
  QCOMPARE(fuzzyMatch(u"fa", u"Fit all").value().positions, (std::vector<qsizetype>{0, 4}));
}

void TestCommandPalette::wordStartsGoFirst() {
  const int starts = fuzzyMatch(u"sa", u"Select all")->score;
  const int inside = fuzzyMatch(u"sa", u"Basal")->score;
  const int apart = fuzzyMatch(u"sa", u"Bus lane")->score;
  QVERIFY(starts > inside);
  QVERIFY(inside > apart);
}

void TestCommandPalette::modelIsSound() {
  PaletteModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.setEntries(allEntries());
  for (const char* wanted : {"r", "ru", "run", "zzzz", ""}) model.setFilter(wanted);
  model.setEntries({});
  QCOMPARE(model.rowCount(), 0);
  QCOMPARE(model.idAt(0), QString());
  QVERIFY(!model.isEnabledAt(0));
}

void TestCommandPalette::emptyFilterListsTheTable() {
  PaletteModel model;
  model.setEntries(allEntries());
  QCOMPARE(static_cast<std::size_t>(model.rowCount()), commandTable().size());
  for (int row = 0; row < model.rowCount(); ++row) {
    QCOMPARE(model.idAt(row), commandTable()[static_cast<std::size_t>(row)].id);
  }
}

void TestCommandPalette::filterFindsByNameCategoryAndHelp() {
  QCOMPARE(firstFor("run"), QString("run.run"));
  QCOMPARE(firstFor("fall"), QString("view.fit-all"));
  QCOMPARE(firstFor("theme"), QString("view.theme"));
  QCOMPARE(firstFor("curl"), QString("file.export"));
  QCOMPARE(firstFor("node mute"), QString("node.mute"));
}

void TestCommandPalette::returnChoosesTheFirst() {
  QWidget window;
  window.resize(900, 600);
  window.show();
  CommandPalette palette(&window);
  QSignalSpy chosen(&palette, &CommandPalette::chosen);
  palette.open(allEntries());
  QVERIFY(palette.isVisible());
  QTest::keyClicks(palette.field(), "undo");
  QTest::keyClick(palette.field(), Qt::Key_Return);
  QCOMPARE(chosen.size(), 1);
  QCOMPARE(chosen[0][0].toString(), QString("edit.undo"));
  QVERIFY(!palette.isVisible());

  palette.open(allEntries());
  QCOMPARE(palette.field()->text(), QString());
}

void TestCommandPalette::arrowsWalk() {
  QWidget window;
  window.resize(900, 600);
  window.show();
  CommandPalette palette(&window);
  QSignalSpy chosen(&palette, &CommandPalette::chosen);
  palette.open(allEntries());
  const int last = palette.model().rowCount() - 1;
  QCOMPARE(palette.list()->currentIndex().row(), 0);
  QTest::keyClick(palette.field(), Qt::Key_Down);
  QCOMPARE(palette.list()->currentIndex().row(), 1);
  QTest::keyClick(palette.field(), Qt::Key_Up);
  QTest::keyClick(palette.field(), Qt::Key_Up);
  QCOMPARE(palette.list()->currentIndex().row(), last);
  QTest::keyClick(palette.field(), Qt::Key_PageDown);
  QCOMPARE(palette.list()->currentIndex().row(), last);
  QTest::keyClick(palette.field(), Qt::Key_Down);
  QTest::keyClick(palette.field(), Qt::Key_PageDown);
  const int page = palette.list()->currentIndex().row();
  QVERIFY(page > 1);
  QTest::keyClick(palette.field(), Qt::Key_Enter);
  QCOMPARE(chosen[0][0].toString(), commandTable()[static_cast<std::size_t>(page)].id);
}

void TestCommandPalette::disabledIsNotChosen() {
  QWidget window;
  window.resize(900, 600);
  window.show();
  CommandPalette palette(&window);
  QSignalSpy chosen(&palette, &CommandPalette::chosen);
  palette.open(paletteEntries(commandTable(), [](const QString& id) { return id != "run.stop"; }));
  QTest::keyClicks(palette.field(), "stop");
  const QModelIndex first = palette.model().index(0);
  QCOMPARE(palette.model().idAt(0), QString("run.stop"));
  QVERIFY(palette.model().data(first, Qt::AccessibleTextRole).toString().contains("unavailable"));
  palette.list()->setCurrentIndex(first);
  QTest::keyClick(palette.field(), Qt::Key_Return);
  if (palette.list()->currentIndex() == first) {
    QCOMPARE(chosen.size(), 0);
    QVERIFY(palette.isVisible());
  }
}

void TestCommandPalette::escapeCloses() {
  QWidget window;
  window.resize(900, 600);
  window.show();
  CommandPalette palette(&window);
  QSignalSpy chosen(&palette, &CommandPalette::chosen);
  palette.open(allEntries());
  QTest::keyClick(palette.field(), Qt::Key_Escape);
  QVERIFY(!palette.isVisible());
  QCOMPARE(chosen.size(), 0);
}

void TestCommandPalette::nothingFits() {
  QWidget window;
  window.resize(900, 600);
  window.show();
  CommandPalette palette(&window);
  QSignalSpy chosen(&palette, &CommandPalette::chosen);
  palette.open(allEntries());
  QTest::keyClicks(palette.field(), "qqqqq");
  QCOMPARE(palette.model().rowCount(), 0);
  for (const Qt::Key key : {Qt::Key_Up, Qt::Key_Down, Qt::Key_PageDown, Qt::Key_Return}) {
    QTest::keyClick(palette.field(), key);
  }
  QVERIFY(palette.isVisible());
  QCOMPARE(chosen.size(), 0);
}

void TestCommandPalette::picture() {
  for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
    const Theme theme(scheme);
    qApp->setStyleSheet(theme.styleSheet());
    qApp->setPalette(theme.palette());
    QWidget window;
    window.resize(900, 700);
    window.show();
    CommandPalette palette(&window);
    palette.setTheme(theme);
    palette.open(paletteEntries(commandTable(), [](const QString& id) { return id != "run.stop"; }));
    QTest::keyClicks(palette.field(), "se");
    const QImage picture = palette.grab().toImage();
    QCOMPARE(picture.pixelColor(picture.width() / 2, picture.height() - 8), theme.color(Role::Surface));
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    if (!folder.isEmpty()) {
      picture.save(folder + (scheme == Scheme::Dark ? "/palette-dark.png" : "/palette-light.png"));
    }
  }
}

SPANSCOPE_TEST(tst_command_palette, TestCommandPalette, QApplication)
#include "tst_command_palette.moc"
