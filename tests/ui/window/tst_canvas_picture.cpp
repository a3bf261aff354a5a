// SPDX-License-Identifier: GPL-3.0-or-later
// The canvas as a picture: in the theme that is asked for, whatever the window has.
#include "engine/workbench/document/document_query.h"
#include "tests/support/test_program.h"
#include "ui/window/canvas_picture.h"

#include <QObject>
#include <QTest>

#include <set>

using namespace spanscope;
using namespace spanscope::ui;

class TestCanvasPicture : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void hasTheThemeAskedFor_data();
  void hasTheThemeAskedFor();
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

SPANSCOPE_TEST(tst_canvas_picture, TestCanvasPicture, QApplication)
#include "tst_canvas_picture.moc"
