// SPDX-License-Identifier: GPL-3.0-or-later
// The canvas as a picture: in the theme that is asked for, whatever the window has.
#include "engine/workbench/document/document_query.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/export/view_export_dialog.h"
#include "ui/window/window_picture.h"

#include <QApplication>
#include <QImage>
#include <QObject>
#include <QTest>
#include <QTimer>

#include <set>

using namespace spanscope;
using namespace spanscope::ui;

class TestCanvasPicture : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void hasTheThemeAskedFor_data();
  void hasTheThemeAskedFor();
  void anExportedPictureHasNoSelection();
};

namespace {

ViewInput inputIn(Scheme scheme) {
  const query::Node query{
      query::Generate{.settings = {.model = "m", .maxTokens = {}, .temperature = {}},
                      .input = query::Node{query::Message{.role = query::Role::User, .text = "hello"}}}};
  ViewInput input;
  input.document = std::make_shared<const document::Document>(document::fromQuery(query));
  input.trace = std::make_shared<const TraceStore>();
  input.theme = Theme(scheme);
  return input;
}

}  // namespace

void TestCanvasPicture::hasTheThemeAskedFor_data() {
  QTest::addColumn<Scheme>("window");
  QTest::addColumn<Scheme>("picture");
  QTest::newRow("dark of a light window") << Scheme::Light << Scheme::Dark;
  QTest::newRow("light of a dark window") << Scheme::Dark << Scheme::Light;
  QTest::newRow("light of a light window") << Scheme::Light << Scheme::Light;
}

void TestCanvasPicture::hasTheThemeAskedFor() {
  QFETCH(Scheme, window);
  QFETCH(Scheme, picture);
  const ExportItem item = canvasItem(inputIn(window), {800, 500});
  const Theme asked(picture);
  const QImage image = renderItem(item, {800, 500}, asked);
  QCOMPARE(image.pixelColor(2, 2), asked.color(Role::Canvas));
  std::set<QRgb> colors;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) colors.insert(image.pixel(x, y));
  }
  const Theme other(picture == Scheme::Light ? Scheme::Dark : Scheme::Light);
  QVERIFY(colors.contains(asked.color(Role::Surface).rgb()));
  QVERIFY(!colors.contains(other.color(Role::Surface).rgb()));
}

void TestCanvasPicture::anExportedPictureHasNoSelection() {
  test::FreshWindow fresh;
  QVERIFY(fresh.show());
  MainWindow& window = fresh.window();
  QVERIFY(window.openExample(QStringLiteral("rag.json")));
  const auto exported = [&](const Selection& selection, const QString& name) {
    window.workspace().select(selection);
    const QString path = fresh.path(name);
    QTimer::singleShot(0, &window, [&path] {
      auto* dialog = qobject_cast<ViewExportDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) return;
      dialog->saveTo(path);
      dialog->reject();
    });
    window.perform(QStringLiteral("file.export-view:canvas"));
    return QImage(path);
  };
  Selection selection;
  selection.nodes = {window.workspace().model()->document().root()};
  const QImage plain = exported({}, QStringLiteral("plain.png"));
  QVERIFY(!plain.isNull());
  QCOMPARE(exported(selection, QStringLiteral("selected.png")), plain);
}

SPANSCOPE_TEST(tst_canvas_picture, TestCanvasPicture, QApplication)
#include "tst_canvas_picture.moc"
