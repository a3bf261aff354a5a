// SPDX-License-Identifier: GPL-3.0-or-later
// The two export dialogs: what they show is what Copy and Save give.
#include "engine/query/json.h"
#include "ui/document/document_file.h"
#include "ui/document/document_query.h"
#include "ui/export/export_dialog.h"
#include "ui/export/view_export_dialog.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QtTest>

using namespace spanscope;
using namespace spanscope::ui;

class TestExportDialogs : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tabsShowWhatIsCopied();
  void fieldsChangeTheRequest();
  void remarksFollowTheTab();
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
    if (each->accessibleName() == name) return each;
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

constexpr int kYamlTab = 1;
constexpr int kCurlTab = 3;

}  // namespace

void TestExportDialogs::tabsShowWhatIsCopied() {
  ExportDialog dialog(example("rag.json"), "rag", Theme());
  dialog.show();
  auto* tabs = dialog.findChild<QTabWidget*>();
  const QStringList names{"rag.json", "rag.yaml", "rag.lisp", "rag.sh", "rag.py"};
  for (int tab = 0; tab < names.size(); ++tab) {
    tabs->setCurrentIndex(tab);
    const auto* text = qobject_cast<QPlainTextEdit*>(tabs->widget(tab));
    QVERIFY(!dialog.text().isEmpty());
    QCOMPARE(text->toPlainText().toUtf8(), dialog.text());
    QCOMPARE(dialog.proposedName(), names[tab]);
    QTest::mouseClick(button(dialog, "Copy"), Qt::LeftButton);
    QCOMPARE(QGuiApplication::clipboard()->text().toUtf8(), dialog.text());
  }
  tabs->setCurrentIndex(0);
  for (QCheckBox* box : dialog.findChildren<QCheckBox*>()) {
    if (box->text().contains("line")) box->setChecked(true);
  }
  QVERIFY(!dialog.text().contains('\n'));
}

void TestExportDialogs::fieldsChangeTheRequest() {
  ExportDialog dialog(example("rag.json"), "rag", Theme());
  dialog.show();
  dialog.findChild<QTabWidget*>()->setCurrentIndex(kCurlTab);
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

void TestExportDialogs::remarksFollowTheTab() {
  ExportDialog dialog(example("judge-2.json"), "judge", Theme());
  auto* tabs = dialog.findChild<QTabWidget*>();
  auto* list = dialog.findChild<QListWidget*>();
  const int json = list->count();
  tabs->setCurrentIndex(kCurlTab);
  QVERIFY(list->count() > json);
  QVERIFY(list->item(0)->text().contains("inside another one"));
  QVERIFY(list->item(0)->data(Qt::AccessibleTextRole).toString().startsWith("Refused: "));
}

void TestExportDialogs::yamlSaysWhatItCannotSay() {
  document::Document document = *document::readDocument(R"({"user": "12"})").document;
  ExportDialog dialog(document, "number", Theme());
  auto* tabs = dialog.findChild<QTabWidget*>();
  auto* list = dialog.findChild<QListWidget*>();
  const int json = list->count();
  tabs->setCurrentIndex(kYamlTab);
  QCOMPARE(list->count(), json + 1);
}

void TestExportDialogs::remarkLeadsToTheNode() {
  const document::Document document = example("judge-2.json");
  ExportDialog dialog(document, "judge", Theme());
  dialog.show();
  dialog.findChild<QTabWidget*>()->setCurrentIndex(kCurlTab);
  auto* list = dialog.findChild<QListWidget*>();
  QSignalSpy wanted(&dialog, &ExportDialog::nodeWanted);
  list->setCurrentRow(0);
  QTest::keyClick(list, Qt::Key_Return);
  QCOMPARE(wanted.size(), 1);
  const auto node = wanted[0][0].value<document::NodeId>();
  QVERIFY(document.at(node).own.as<query::Repeat>() != nullptr);
}

void TestExportDialogs::incompleteDocumentExportsNothing() {
  ExportDialog dialog({}, "empty", Theme());
  QVERIFY(dialog.text().isEmpty());
  QVERIFY(!button(dialog, "Copy")->isEnabled());
  const auto* text = qobject_cast<QPlainTextEdit*>(dialog.findChild<QTabWidget*>()->widget(0));
  QVERIFY(text->toPlainText().contains("empty document"));
}

void TestExportDialogs::queryIsSaved() {
  QTemporaryDir folder;
  ExportDialog dialog(example("rag.json"), "rag", Theme());
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
  named<QComboBox>(dialog, "Theme of the picture")->setCurrentIndex(0);
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
    dialog.findChild<QTabWidget*>()->setCurrentIndex(kCurlTab);
    QCoreApplication::processEvents();
    const QImage picture = dialog.grab().toImage();
    QVERIFY(!picture.isNull());
    if (folder.isEmpty()) continue;
    picture.save(folder + "/export-curl" + suffix);
    dialog.findChild<QTabWidget*>()->setCurrentIndex(0);
    dialog.grab().save(folder + "/export-json" + suffix);
    view.grab().save(folder + "/export-view" + suffix);
  }
}

QTEST_MAIN(TestExportDialogs)
#include "tst_export_dialogs.moc"
