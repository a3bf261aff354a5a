// SPDX-License-Identifier: GPL-3.0-or-later
// The two export dialogs: what they show is what Copy and Save give.
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"
#include "ui/export/export_dialog.h"
#include "ui/export/view_export_dialog.h"

#include <QByteArray>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QCoreApplication>
#include <QFile>
#include <QIODevice>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QList>
#include <QListWidget>
#include <QObject>
#include <QPlainTextEdit>
#include <QPoint>
#include <QPushButton>
#include <QRect>
#include <QSignalSpy>
#include <QSize>
#include <QSpinBox>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

class TestExportDialogs : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void targetsShowWhatIsCopied();
  void stagesAndLinesAreChosen();
  void onlySettingsOfTheTargetAreShown();
  void targetsAreChosenByKeyboard();
  void tokensAreMadeBesideTheWindow();
  void tokensSayWhatIsWrong();
  void longTextsAreShownInPart();
  void fieldsChangeTheRequest();
  void remarksFollowTheTarget();
  void yamlSaysWhatItCannotSay();
  void remarkLeadsToTheNode();
  void incompleteDocumentExportsNothing();
  void queryIsSaved();
  void controlsHaveNames();
  void viewIsSavedInEveryFormat();
  void viewWithoutTable();
  void pictures();
};

namespace {

/// A row of the table; the tests name those that there are.
const exports::ExportTarget& target(const char* name) {
  return *exports::findExportTarget(name);
}

document::Document example(const QString& file) {
  QFile json(QString(SPANSCOPE_SOURCE_DIR) + "/resources/queries/" + file);
  if (!json.open(QIODevice::ReadOnly)) return {};
  const auto query = query::parseJson(json.readAll().toStdString()).query;
  return query ? document::fromQuery(*query) : document::Document();
}

QPushButton* button(const QWidget& dialog, const QString& text) {
  for (QPushButton* each : dialog.findChildren<QPushButton*>()) {
    if (QString(each->text()).remove('&') == text) return each;
  }
  return nullptr;
}

template <class Widget>
Widget* named(const QWidget& dialog, const QString& name) {
  for (Widget* each : dialog.findChildren<Widget*>()) {
    if (each->accessibleName() == worded(name)) return each;
  }
  return nullptr;
}

QByteArray contents(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

ExportItem half(bool withTable) {
  ExportItem item{.id = "block-table", .title = "Block table", .size = {300, 200}, .paint = {}, .csv = {}};
  item.paint = [](QPainter& painter, const QSize& size, const Theme& theme) {
    painter.fillRect(QRect(QPoint(), size), theme.color(Role::Surface));
    painter.setFont(theme.interfaceFont());
    painter.setPen(theme.color(Role::Text));
    painter.drawText(QRect(QPoint(), size), Qt::AlignCenter, "block table");
  };
  if (withTable) item.csv = [] { return QString("block,state\n1,hit\n"); };
  return item;
}

QPlainTextEdit* preview(const QWidget& dialog) {
  return dialog.findChild<QPlainTextEdit*>();
}

QListWidget* remarks(const QWidget& dialog) {
  return named<QListWidget>(dialog, "<remarks-target>");
}

/// A dialog may still be making tokens.
bool becomesReady(const ExportDialog& dialog) {
  return QTest::qWaitFor([&dialog] { return !dialog.text().isEmpty(); }, 10000);
}

}  // namespace

void TestExportDialogs::targetsShowWhatIsCopied() {
  ExportDialog dialog(example("rag.json"), "rag", Theme());
  dialog.show();
  const QStringList names{"rag-chat.json", "rag-chat.sh", "rag.json", "rag.yaml",
                          "rag.lisp",      "rag.sh",      "rag.py",   "rag-tokens.json"};
  auto* targets = named<QListWidget>(dialog, "Target");
  QCOMPARE(targets->count(), names.size());
  for (int i = 0; i < names.size(); ++i) {
    const QRect row = targets->visualItemRect(targets->item(i));
    QTest::mouseClick(targets->viewport(), Qt::LeftButton, {}, row.center());
    QVERIFY2(becomesReady(dialog), qPrintable(names[i]));
    QCOMPARE(preview(dialog)->toPlainText().toUtf8(), dialog.text());
    QCOMPARE(dialog.proposedName(), names[i]);
    QTest::mouseClick(button(dialog, "Copy"), Qt::LeftButton);
    QCOMPARE(QGuiApplication::clipboard()->text().toUtf8(), dialog.text());
  }
}

void TestExportDialogs::stagesAndLinesAreChosen() {
  ExportDialog dialog(example("judge-4.json"), "judge", Theme());
  dialog.show();
  dialog.setTarget(target("spnl"));
  auto* stage = named<QComboBox>(dialog, "Stage");
  const QByteArray asItStands = dialog.text();
  stage->setFocus();
  QTest::keyClick(stage, Qt::Key_Down);
  QTest::keyClick(stage, Qt::Key_Down);
  QVERIFY(dialog.text() != asItStands);
  QTest::keyClick(stage, Qt::Key_Up);
  QTest::keyClick(stage, Qt::Key_Up);
  for (QCheckBox* box : dialog.findChildren<QCheckBox*>()) {
    if (box->text().contains("one")) QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(6, box->height() / 2));
  }
  QVERIFY(!dialog.text().contains('\n'));
  QTest::keyClick(stage, Qt::Key_End);
  QCOMPARE(dialog.text().count('\n'), 1);
  QVERIFY(dialog.text().startsWith("{\"repeat\""));
}

void TestExportDialogs::onlySettingsOfTheTargetAreShown() {
  ExportDialog dialog(example("rag.json"), "rag", Theme());
  dialog.show();
  const auto isShown = [&dialog](const QString& name) {
    for (const QWidget* each : dialog.findChildren<QWidget*>()) {
      if (each->accessibleName() == name) return each->isVisible();
    }
    return false;
  };
  dialog.setTarget(target("spnl"));
  QVERIFY(isShown("Stage") && isShown("Model") && !isShown("Endpoint") && !isShown("Tokenizer"));
  dialog.setTarget(target("curl"));
  QVERIFY(!isShown("Stage") && isShown("Model") && isShown("Endpoint"));
  QVERIFY(dialog.text().contains("/v1/query/execute"));
  dialog.setTarget(target("chat-curl"));
  QVERIFY(isShown("Endpoint") && dialog.text().contains("/v1/chat/completions"));
  dialog.setTarget(target("tokens"));
  QVERIFY(!isShown("Model") && isShown("Tokenizer") && isShown("Chat template") &&
          isShown("Plus delimiter id"));
  dialog.setTarget(target("yaml"));
  QCOMPARE(named<QComboBox>(dialog, "Stage")->count(), 3);
}

void TestExportDialogs::targetsAreChosenByKeyboard() {
  ExportDialog dialog(example("rag.json"), "rag", Theme());
  dialog.show();
  auto* targets = named<QListWidget>(dialog, "Target");
  targets->setFocus();
  // The form that most servers accept is first.
  QCOMPARE(std::string(dialog.target().name), std::string("chat"));
  QTest::keyClick(targets, Qt::Key_Down);
  QCOMPARE(std::string(dialog.target().name), std::string("chat-curl"));
  QTest::keyClick(targets, Qt::Key_End);
  QCOMPARE(std::string(dialog.target().name), std::string("tokens"));
}

void TestExportDialogs::tokensAreMadeBesideTheWindow() {
  ExportDialog dialog(example("rag.json"), "rag", Theme());
  dialog.show();
  dialog.setTarget(target("tokens"));
  // Not yet: another thread makes them.
  QVERIFY(dialog.text().isEmpty());
  QVERIFY(!button(dialog, "Copy")->isEnabled());
  QVERIFY(becomesReady(dialog));
  QVERIFY(button(dialog, "Copy")->isEnabled());
  const QJsonArray ids = QJsonDocument::fromJson(dialog.text()).object()["ids"].toArray();
  QVERIFY(ids.contains(10));  // the plus marker
  const QList<QByteArray> lines = dialog.text().split('\n');
  QCOMPARE(lines[1].count(','), 16);
  // Without markers nothing is padded; what was asked for last is what is shown.
  auto* plus = named<QSpinBox>(dialog, "Plus delimiter id");
  plus->setFocus();
  plus->selectAll();
  QTest::keyClicks(plus, "5");
  QTest::keyClick(plus, Qt::Key_Tab);
  named<QSpinBox>(dialog, "Cross delimiter id")->setValue(-1);
  plus->setValue(-1);
  QVERIFY(becomesReady(dialog));
  const QJsonArray bare = QJsonDocument::fromJson(dialog.text()).object()["ids"].toArray();
  QVERIFY(!bare.contains(10) && !bare.contains(27) && bare.size() < ids.size());
  const QListWidget* list = remarks(dialog);
  QVERIFY(list->item(0)->text().contains(worded("<without-plus-marker>")));
}

void TestExportDialogs::tokensSayWhatIsWrong() {
  ExportDialog dialog(example("rag.json"), "rag", Theme());
  dialog.show();
  dialog.setTarget(target("tokens"));
  named<QSpinBox>(dialog, "Padding id")->setValue(4'000'000);
  QTRY_VERIFY(preview(dialog)->toPlainText().contains("the token id 4000000"));
  QVERIFY(dialog.text().isEmpty() && !button(dialog, "Save…")->isEnabled());
  named<QSpinBox>(dialog, "Padding id")->setValue(3);
  named<QLineEdit>(dialog, "Tokenizer")->setText("/nowhere");
  QTRY_VERIFY(preview(dialog)->toPlainText().contains("/nowhere"));
}

void TestExportDialogs::longTextsAreShownInPart() {
  document::Document document;
  const std::string words(300'000, 'x');
  document = document::fromQuery({query::Message{.role = query::Role::User, .text = "ä" + words}});
  ExportDialog dialog(document, "long", Theme());
  dialog.setTarget(target("spnl"));
  QVERIFY(dialog.text().size() > 300'000);
  const QByteArray shown = preview(dialog)->toPlainText().toUtf8();
  QVERIFY(shown.size() < 100'000);
  QVERIFY(dialog.text().startsWith(shown));
  const QList<QLabel*> labels = dialog.findChildren<QLabel*>();
  QVERIFY(std::any_of(labels.begin(), labels.end(),
                      [](const QLabel* label) { return label->text().contains("bytes are shown"); }));
}

void TestExportDialogs::fieldsChangeTheRequest() {
  ExportDialog dialog(example("rag.json"), "rag", Theme());
  dialog.show();
  dialog.setTarget(target("curl"));
  auto* endpoint = named<QLineEdit>(dialog, "Endpoint");
  endpoint->selectAll();
  QTest::keyClicks(endpoint, "https://gpu:9/v1/query/execute");
  QTest::keyClicks(named<QLineEdit>(dialog, "Model"), "spnl/granite");
  QVERIFY(dialog.text().contains("'https://gpu:9/v1/query/execute?stream=true'"));
  QVERIFY(dialog.text().contains("\"model\":\"granite\""));
  for (QCheckBox* box : dialog.findChildren<QCheckBox*>()) {
    if (box->text().contains("Stream"))
      QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(6, box->height() / 2));
  }
  QVERIFY(dialog.text().contains("stream=false"));
  QCOMPARE(dialog.model(), QString("spnl/granite"));
}

void TestExportDialogs::remarksFollowTheTarget() {
  ExportDialog dialog(example("judge-2.json"), "judge", Theme());
  dialog.setTarget(target("spnl"));
  const QListWidget* list = remarks(dialog);
  const int json = list->count();
  dialog.setTarget(target("curl"));
  QVERIFY(list->count() > json);
  QVERIFY(list->item(0)->text().contains("inside another generate"));
  QVERIFY(list->item(0)->data(Qt::AccessibleTextRole).toString().startsWith("Refused: "));
}

void TestExportDialogs::yamlSaysWhatItCannotSay() {
  document::Document document = *document::readDocument(R"({"user": "12"})").document;
  ExportDialog dialog(document, "number", Theme());
  dialog.setTarget(target("spnl"));
  const int json = remarks(dialog)->count();
  dialog.setTarget(target("yaml"));
  QCOMPARE(remarks(dialog)->count(), json + 1);
}

void TestExportDialogs::remarkLeadsToTheNode() {
  const document::Document document = example("judge-2.json");
  ExportDialog dialog(document, "judge", Theme());
  dialog.show();
  dialog.setTarget(target("curl"));
  auto* list = remarks(dialog);
  QSignalSpy wanted(&dialog, &ExportDialog::nodeWanted);
  list->setCurrentRow(0);
  QTest::keyClick(list, Qt::Key_Return);
  QCOMPARE(wanted.size(), 1);
  const auto node = wanted[0][0].value<document::NodeId>();
  QVERIFY(document.at(node).own.as<query::Repeat>() != nullptr);
  // By mouse too; a remark that is about no node leads nowhere.
  const auto doubleClick = [list](int row) {
    const QPoint place = list->visualItemRect(list->item(row)).center();
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, place);
    QTest::mouseDClick(list->viewport(), Qt::LeftButton, {}, place);
  };
  doubleClick(0);
  QCOMPARE(wanted.size(), 2);
  list->scrollToBottom();
  doubleClick(list->count() - 1);
  QCOMPARE(wanted.size(), 2);
}

void TestExportDialogs::incompleteDocumentExportsNothing() {
  ExportDialog dialog({}, "empty", Theme());
  QVERIFY(dialog.text().isEmpty());
  QVERIFY(!button(dialog, "Copy")->isEnabled());
  QVERIFY(preview(dialog)->toPlainText().contains(worded("<query-empty>")));
}

void TestExportDialogs::queryIsSaved() {
  QTemporaryDir folder;
  ExportDialog dialog(example("rag.json"), "rag", Theme());
  dialog.setTarget(target("spnl"));
  QVERIFY(!dialog.saveTo(folder.filePath("rag.json")));
  const auto saved = query::parseJson(contents(folder.filePath("rag.json")).toStdString()).query;
  QVERIFY(saved && document::fromQuery(*saved) == example("rag.json"));
  QVERIFY(dialog.saveTo("/nowhere/rag.json").has_value());
}

void TestExportDialogs::controlsHaveNames() {
  ExportDialog query(example("rag.json"), "rag", Theme());
  ViewExportDialog view({half(true)}, "block-table", Theme());
  for (const QWidget* dialog : {static_cast<QWidget*>(&query), static_cast<QWidget*>(&view)}) {
    for (const QWidget* each : dialog->findChildren<QWidget*>()) {
      const bool isControl = qobject_cast<const QComboBox*>(each) != nullptr ||
                             qobject_cast<const QSpinBox*>(each) != nullptr ||
                             qobject_cast<const QPlainTextEdit*>(each) != nullptr ||
                             qobject_cast<const QListWidget*>(each) != nullptr;
      if (isControl) QVERIFY2(!each->accessibleName().isEmpty(), each->metaObject()->className());
    }
  }
}

void TestExportDialogs::viewIsSavedInEveryFormat() {
  QTemporaryDir folder;
  ViewExportDialog dialog({half(false), half(true)}, "block-table", Theme(Scheme::Dark));
  named<QComboBox>(dialog, "View")->setCurrentIndex(1);
  auto* format = named<QComboBox>(dialog, "Format");
  const QList<QByteArray> beginnings{"\x89PNG", "<?xml", "%PDF-", "block,state"};
  for (int i = 0; i < 4; ++i) {
    format->setCurrentIndex(i);
    const QString path = folder.filePath(dialog.proposedName());
    QVERIFY(!dialog.saveTo(path));
    QVERIFY2(contents(path).startsWith(beginnings[i]), qPrintable(path));
    QVERIFY(!dialog.copy());
  }
  QCOMPARE(QGuiApplication::clipboard()->text(), QString("block,state\n1,hit\n"));
  const QImage image(folder.filePath("block-table.png"));
  QCOMPARE(image.size(), QSize(600, 400));
  QCOMPARE(image.pixelColor(2, 2), Theme(Scheme::Dark).color(Role::Surface));
  named<QComboBox>(dialog, "<theme-picture>")->setCurrentIndex(0);
  format->setCurrentIndex(0);
  QVERIFY(!dialog.saveTo(folder.filePath("light.png")));
  QCOMPARE(QImage(folder.filePath("light.png")).pixelColor(2, 2), Theme(Scheme::Light).color(Role::Surface));
}

void TestExportDialogs::viewWithoutTable() {
  ViewExportDialog dialog({half(false)}, "unknown", Theme());
  named<QComboBox>(dialog, "Format")->setCurrentIndex(3);
  QVERIFY(!button(dialog, "Copy")->isEnabled());
  named<QComboBox>(dialog, "Format")->setCurrentIndex(1);
  QVERIFY(button(dialog, "Copy")->isEnabled());
}

void TestExportDialogs::pictures() {
  const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
  for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
    const Theme theme(scheme);
    const QString suffix = scheme == Scheme::Dark ? "-dark.png" : "-light.png";
    qApp->setStyleSheet(theme.styleSheet());
    qApp->setPalette(theme.palette());
    qApp->setFont(theme.interfaceFont());
    ExportDialog dialog(example("judge-2.json"), "judge-2", theme);
    dialog.show();
    ViewExportDialog view({half(true)}, "block-table", theme);
    view.show();
    for (const exports::ExportTarget& target : exports::exportTargets()) {
      dialog.setTarget(target);
      QVERIFY(becomesReady(dialog));
      QCoreApplication::processEvents();
      const QImage picture = dialog.grab().toImage();
      QVERIFY(!picture.isNull());
      if (!folder.isEmpty()) picture.save(folder + "/export-" + target.name + suffix);
    }
    if (!folder.isEmpty()) view.grab().save(folder + "/export-view" + suffix);
  }
}

SPANSCOPE_TEST(tst_export_dialogs, TestExportDialogs, QApplication)
#include "tst_export_dialogs.moc"
