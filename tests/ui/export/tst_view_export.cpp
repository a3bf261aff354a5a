// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of views: whole files in every format, or an error and no file.
#include "tests/support/test_program.h"
#include "ui/export/view_export.h"
#include "ui/export/view_picture.h"

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QImage>
#include <QMimeData>
#include <QObject>
#include <QPoint>
#include <QRect>
#include <QRegularExpression>
#include <QRegularExpressionMatch>
#include <QSize>
#include <QSizeF>
#include <QString>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

#include <cmath>
#include <memory>
#include <set>

using namespace spanscope;
using namespace spanscope::ui;

class TestViewExport : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pngHasTheScale_data();
  void pngHasTheScale();
  void backgroundAndTransparency();
  void svgIsDrawnAgain();
  void pdfIsOnePageOfTheSize();
  void wrongSizesAreErrors_data();
  void wrongSizesAreErrors();
  void viewsThatComputeLaterAreNotBlank_data();
  void viewsThatComputeLaterAreNotBlank();
  void failedWritesLeaveTheFile();
  void clipboardHoldsPictureAndImage();
  void csvForTheClipboard();
  void itemsArePaintedInTheTheme();
};

namespace {

constexpr QSize kSize(120, 80);

/// A red left half.
void paintHalf(QPainter& painter, const QSize& size) {
  painter.fillRect(QRect(0, 0, size.width() / 2, size.height()), Qt::red);
}

}  // namespace

void TestViewExport::pngHasTheScale_data() {
  QTest::addColumn<double>("scale");
  for (const double scale : {0.5, 1.0, 1.5, 2.0, 4.0}) QTest::addRow("%g", scale) << scale;
}

void TestViewExport::pngHasTheScale() {
  QFETCH(double, scale);
  QTemporaryDir folder;
  const QString path = folder.filePath("view.png");
  QVERIFY(!exportPicture(paintHalf, kSize, PictureFormat::Png, path,
                         {.scale = scale, .background = Qt::white, .title = "Half"}));
  const QImage image(path);
  QCOMPARE(image.size(), (QSizeF(kSize) * scale).toSize());
  QCOMPARE(image.text("Title"), QString("Half"));
  QCOMPARE(image.pixelColor(image.width() / 4, image.height() / 2), QColor(Qt::red));
  QCOMPARE(image.pixelColor(image.width() * 3 / 4, image.height() / 2), QColor(Qt::white));
}

void TestViewExport::backgroundAndTransparency() {
  const auto made = makePicture(paintHalf, kSize, PictureFormat::Png);
  const QImage image = QImage::fromData(std::get<QByteArray>(made));
  QCOMPARE(image.pixelColor(110, 40).alpha(), 0);
  QCOMPARE(image.pixelColor(10, 40), QColor(Qt::red));
}

void TestViewExport::svgIsDrawnAgain() {
  const auto made = makePicture(paintHalf, kSize, PictureFormat::Svg,
                                {.scale = 1, .background = Qt::white, .title = "Half"});
  const QByteArray& bytes = std::get<QByteArray>(made);
  QVERIFY(bytes.contains("<title>Half</title>"));
  QSvgRenderer renderer(bytes);
  QVERIFY(renderer.isValid());
  QCOMPARE(renderer.viewBox().size(), kSize);
  QImage image(kSize, QImage::Format_ARGB32);
  image.fill(Qt::black);
  QPainter painter(&image);
  renderer.render(&painter);
  painter.end();
  QCOMPARE(image.pixelColor(10, 40), QColor(Qt::red));
  QCOMPARE(image.pixelColor(110, 40), QColor(Qt::white));
}

void TestViewExport::pdfIsOnePageOfTheSize() {
  const auto made = makePicture(paintHalf, kSize, PictureFormat::Pdf);
  const QByteArray& bytes = std::get<QByteArray>(made);
  QVERIFY(bytes.startsWith("%PDF-"));
  const QRegularExpression box("/MediaBox \\[0 0 ([0-9.]+) ([0-9.]+)\\]");
  const QRegularExpressionMatch match = box.match(QString::fromLatin1(bytes));
  QVERIFY(match.hasMatch());
  QCOMPARE(std::round(match.captured(1).toDouble()), kSize.width() * 0.75);
  QCOMPARE(std::round(match.captured(2).toDouble()), kSize.height() * 0.75);
}

void TestViewExport::wrongSizesAreErrors_data() {
  QTest::addColumn<QSize>("size");
  QTest::addColumn<double>("scale");
  QTest::newRow("none") << QSize() << 1.0;
  QTest::newRow("no height") << QSize(100, 0) << 1.0;
  QTest::newRow("negative") << QSize(-5, 10) << 1.0;
  QTest::newRow("too wide") << QSize(40000, 10) << 1.0;
  QTest::newRow("too wide when scaled") << QSize(10000, 10) << 4.0;
  QTest::newRow("too many pixels") << QSize(30000, 30000) << 1.0;
}

void TestViewExport::wrongSizesAreErrors() {
  QFETCH(QSize, size);
  QFETCH(double, scale);
  QTemporaryDir folder;
  const QString path = folder.filePath("view.png");
  const auto error = exportPicture(paintHalf, size, PictureFormat::Png, path,
                                   {.scale = scale, .background = {}, .title = {}});
  QVERIFY(error.has_value());
  QCOMPARE(QString::fromStdString(error->file), path);
  QVERIFY(!error->expected.empty());
  QVERIFY(!QFile::exists(path));
}

void TestViewExport::failedWritesLeaveTheFile() {
  const auto error = exportPicture(paintHalf, kSize, PictureFormat::Svg, "/nowhere/view.svg");
  QVERIFY(error.has_value());
  QVERIFY(!error->found.empty());

  QTemporaryDir folder;
  const QString path = folder.filePath("table.csv");
  QVERIFY(!writeFile(path, "a,b\n"));
  // A folder of that name stands in the way of the second.
  QVERIFY(QDir(folder.path()).mkdir("taken"));
  QVERIFY(writeFile(folder.filePath("taken"), "x").has_value());
  QFile file(path);
  QVERIFY(file.open(QIODevice::ReadOnly));
  QCOMPARE(file.readAll(), QByteArray("a,b\n"));
  QCOMPARE(QDir(folder.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot).size(), 2);

  // A pipe stays one; without a reader nothing is written, and nobody waits for one.
  const QString pipe = folder.filePath("pipe");
  QCOMPARE(::mkfifo(pipe.toUtf8().constData(), 0600), 0);
  QVERIFY(writeFile(pipe, "x").has_value());
  QVERIFY(QFileInfo(pipe).exists() && !QFileInfo(pipe).isFile());
}

void TestViewExport::clipboardHoldsPictureAndImage() {
  const auto svg = pictureForClipboard(paintHalf, kSize, PictureFormat::Svg);
  const auto& data = std::get<std::unique_ptr<QMimeData>>(svg);
  QVERIFY(data->hasImage());
  QVERIFY(data->data("image/svg+xml").contains("<svg"));
  const auto png =
      pictureForClipboard(paintHalf, kSize, PictureFormat::Png, {.scale = 2, .background = {}, .title = {}});
  QCOMPARE(qvariant_cast<QImage>(std::get<std::unique_ptr<QMimeData>>(png)->imageData()).size(), kSize * 2);
  QVERIFY(std::holds_alternative<Error>(pictureForClipboard(paintHalf, {}, PictureFormat::Png)));
}

void TestViewExport::csvForTheClipboard() {
  const auto data = csvForClipboard("a,b\n");
  QCOMPARE(data->data("text/csv"), QByteArray("a,b\n"));
  QCOMPARE(data->text(), QString("a,b\n"));
}

void TestViewExport::itemsArePaintedInTheTheme() {
  ExportItem item;
  item.paint = [](QPainter& painter, const QSize& size, const Theme& theme) {
    painter.fillRect(QRect(QPoint(), size), theme.color(Role::Text));
  };
  for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
    const Theme theme(scheme);
    const QImage image = renderItem(item, {20, 10}, theme, 2);
    QCOMPARE(image.size(), QSize(40, 20));
    QCOMPARE(image.pixelColor(30, 15), theme.color(Role::Text));
  }
}

void TestViewExport::viewsThatComputeLaterAreNotBlank_data() {
  QTest::addColumn<QString>("id");
  for (const char* id : {"problems", "inspector", "json", "settings", "add", "why", "tokens"}) {
    QTest::newRow(id) << QString::fromLatin1(id);
  }
}

/// Whatever stands in the lower and the upper half, a picture has ink: more than its background.
void TestViewExport::viewsThatComputeLaterAreNotBlank() {
  QFETCH(QString, id);
  ViewInput input;
  input.document = std::make_shared<const document::Document>();
  input.trace = std::make_shared<const TraceStore>();
  for (const ViewInfo& info : viewTable()) {
    if (info.id != id) continue;
    const QImage image = renderItem(exportItem(info, input, {400, 300}), {400, 300}, Theme());
    std::set<QRgb> colours;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) colours.insert(image.pixel(x, y));
    }
    QVERIFY2(colours.size() > 8, qPrintable(QString::number(colours.size())));
    return;
  }
  QFAIL("there is no such view");
}

SPANSCOPE_TEST(tst_view_export, TestViewExport, QApplication)
#include "tst_view_export.moc"
