// SPDX-License-Identifier: GPL-3.0-or-later
// The welcome page offers every example that comes with the program, and the about box says what is running.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"
#include "ui/window/dialogs.h"
#include "ui/window/welcome_page.h"

#include <QCoreApplication>
#include <QDir>
#include <QLabel>
#include <QList>
#include <QObject>
#include <QPushButton>
#include <QRegularExpression>
#include <QSet>
#include <QSignalSpy>
#include <QString>
#include <QStringList>
#include <QTest>
#include <QVariant>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

class TestWelcomePage : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tableNamesEveryExample();
  void cardsOpenByMouseAndKey();
  void cardsAreReachableByTab();
  void recentFilesOpen();
  void buttonsAsk();
  void narrowPageIsOneColumn();
  void aboutNamesVersionsAndDevice();
  void pictures();
};

namespace {

QPushButton* buttonNamed(const QWidget& page, const QString& text) {
  for (QPushButton* button : page.findChildren<QPushButton*>()) {
    if (button->text() == text) return button;
  }
  return nullptr;
}

}  // namespace

void TestWelcomePage::tableNamesEveryExample() {
  const QDir folder(QString(SPANSCOPE_SOURCE_DIR) + "/resources/queries");
  QStringList listed;
  for (const Example& example : exampleTable()) {
    listed += example.file;
    QVERIFY(!example.title.isEmpty());
    QVERIFY(!example.description.isEmpty());
    const document::OpenedDocument opened = openDocument(folder.filePath(example.file));
    // In YAML a comment introduces the example.
    const std::size_t comments = example.file.endsWith(QLatin1String(".yaml")) ? 1 : 0;
    QVERIFY2(opened.document.has_value() && opened.diagnostics.size() == comments, qPrintable(example.file));
  }
  listed.sort();
  QCOMPARE(listed, folder.entryList(QDir::Files, QDir::Name));
}

void TestWelcomePage::cardsOpenByMouseAndKey() {
  WelcomePage page(exampleTable());
  page.resize(1000, 800);
  page.show();
  QSignalSpy opened(&page, &WelcomePage::openExample);
  const QList<ExampleCard*> cards = page.findChildren<ExampleCard*>();
  QCOMPARE(static_cast<std::size_t>(cards.size()), exampleTable().size());
  for (std::size_t i = 0; i < exampleTable().size(); ++i) {
    ExampleCard* card = cards[static_cast<qsizetype>(i)];
    QVERIFY(card->accessibleName().contains(exampleTable()[i].title));
    QCOMPARE(card->accessibleDescription(), exampleTable()[i].description);
    opened.clear();
    QTest::mouseClick(card, Qt::LeftButton);
    QTest::keyClick(card, Qt::Key_Return);
    QTest::keyClick(card, Qt::Key_Space);
    QCOMPARE(opened.size(), 3);
    for (const QList<QVariant>& call : opened) QCOMPARE(call[0].toString(), exampleTable()[i].file);
  }
}

void TestWelcomePage::cardsAreReachableByTab() {
  WelcomePage page(exampleTable());
  page.resize(1000, 800);
  page.show();
  QApplication::setActiveWindow(&page);
  QVERIFY(QTest::qWaitForWindowActive(&page));
  QPushButton* first = buttonNamed(page, worded("<create-query>"));
  QVERIFY(first != nullptr);
  first->setFocus();
  QSet<QWidget*> seen;
  for (int i = 0; i < 20; ++i) {
    seen.insert(QApplication::focusWidget());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
  }
  for (ExampleCard* card : page.findChildren<ExampleCard*>()) QVERIFY(seen.contains(card));
}

void TestWelcomePage::recentFilesOpen() {
  WelcomePage page(exampleTable());
  page.resize(1000, 800);
  QCOMPARE(page.findChildren<QPushButton*>("recentFile").size(), 0);
  page.setRecentFiles({"/tmp/one.span", QDir::homePath() + "/two.json"});
  page.show();
  QSignalSpy opened(&page, &WelcomePage::openFile);
  const QList<QPushButton*> files = page.findChildren<QPushButton*>("recentFile");
  QCOMPARE(files.size(), 2);
  QVERIFY(files[0]->text().startsWith("one.span"));
  QVERIFY(files[1]->text().endsWith("~"));
  QTest::mouseClick(files[1], Qt::LeftButton);
  QCOMPARE(opened[0][0].toString(), QDir::homePath() + "/two.json");

  page.setRecentFiles({});
  QTRY_COMPARE(page.findChildren<QPushButton*>("recentFile").size(), 0);
}

void TestWelcomePage::buttonsAsk() {
  WelcomePage page(exampleTable());
  page.show();
  QSignalSpy created(&page, &WelcomePage::newDocument);
  QSignalSpy asked(&page, &WelcomePage::openDialog);
  QTest::mouseClick(buttonNamed(page, worded("<create-query>")), Qt::LeftButton);
  QTest::mouseClick(buttonNamed(page, worded("<open-file>")), Qt::LeftButton);
  QCOMPARE(created.size(), 1);
  QCOMPARE(asked.size(), 1);
}

void TestWelcomePage::narrowPageIsOneColumn() {
  WelcomePage page(exampleTable());
  page.show();
  const QList<ExampleCard*> cards = page.findChildren<ExampleCard*>();
  const auto columns = [&page, &cards](int width) {
    page.resize(width, 900);
    QTest::qWait(10);
    QSet<int> lefts;
    for (const ExampleCard* card : cards) lefts.insert(card->x());
    return static_cast<int>(lefts.size());
  };
  QCOMPARE(columns(1200), 3);
  QCOMPARE(columns(400), 1);
  QCOMPARE(columns(700), 2);
}

void TestWelcomePage::aboutNamesVersionsAndDevice() {
  AboutBox box("AMD EPYC, AVX2, 2 threads", Theme());
  QVERIFY(box.text().contains("Device: AMD EPYC, AVX2, 2 threads\n"));
  QVERIFY(box.text().contains(QString("Qt: ") + qVersion()));
  QVERIFY(QRegularExpression("^Spanscope: [0-9]+\\.[0-9]+\\.[0-9]+\n").match(box.text()).hasMatch());
  QVERIFY(aboutFacts({})[1].value.contains("no model"));
}

void TestWelcomePage::pictures() {
  const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
  for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
    const Theme theme(scheme);
    const QString suffix = scheme == Scheme::Dark ? "-dark.png" : "-light.png";
    qApp->setStyleSheet(theme.styleSheet());
    qApp->setPalette(theme.palette());
    qApp->setFont(theme.interfaceFont());
    WelcomePage page(exampleTable());
    page.setTheme(theme);
    page.setRecentFiles({QDir::homePath() + "/queries/rag-swap.span", "/srv/traces/monday.trace"});
    page.resize(1200, 760);
    page.show();
    page.findChildren<ExampleCard*>()[1]->setFocus();
    QCoreApplication::processEvents();
    const QImage picture = page.grab().toImage();
    QCOMPARE(picture.pixelColor(2, 2), theme.color(Role::Window));
    AboutBox box("AMD EPYC, AVX2, 2 threads", theme);
    if (folder.isEmpty()) continue;
    picture.save(folder + "/welcome" + suffix);
    box.grab().save(folder + "/about" + suffix);
  }
}

SPANSCOPE_TEST(tst_welcome_page, TestWelcomePage, QApplication)
#include "tst_welcome_page.moc"
