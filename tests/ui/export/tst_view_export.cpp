// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of views: whole files in every format, or an error and no file.
#include "tests/support/test_program.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/export/view_picture.h"
#include "ui/views/common/block_painter.h"

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
#include <QXmlStreamReader>

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <variant>
#include <vector>

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
  void typeIsAsLargeAsInTheWindow_data();
  void typeIsAsLargeAsInTheWindow();
  void picturesShowNoSelection_data();
  void picturesShowNoSelection();
  void onlyWhatHelpsIsLarger_data();
  void onlyWhatHelpsIsLarger();
  void statesHavePatternsInVectors_data();
  void statesHavePatternsInVectors();
};

namespace {

constexpr QSize kSize(120, 80);

/// The sizes of all type in an SVG file, in pixels of its view box.
std::vector<double> typeSizes(const QByteArray& svg) {
  static const QRegularExpression kMatrix("matrix\\(([-0-9.e]+),([-0-9.e]+),([-0-9.e]+),([-0-9.e]+)");
  struct Group {
    double scale = 1;
    double font = 0;
  };
  std::vector<Group> groups{{}};
  std::vector<double> sizes;
  QXmlStreamReader reader(svg);
  while (!reader.atEnd()) {
    reader.readNext();
    if (reader.isStartElement()) {
      Group group = groups.back();
      const auto attributes = reader.attributes();
      const auto matrix = kMatrix.match(attributes.value("transform").toString());
      if (matrix.hasMatch()) {
        const auto at = [&matrix](int i) { return matrix.captured(i).toDouble(); };
        group.scale *= std::sqrt(std::abs(at(1) * at(4) - at(2) * at(3)));
      }
      if (attributes.hasAttribute("font-size")) group.font = attributes.value("font-size").toDouble();
      groups.push_back(group);
      if (reader.name() == QLatin1String("text")) sizes.push_back(group.font * group.scale);
    } else if (reader.isEndElement()) {
      groups.pop_back();
    }
  }
  return sizes;
}

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
  // A folder of that name blocks the second.
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

/// With any content in the lower and the upper half, a picture has ink: more than its background.
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

void TestViewExport::typeIsAsLargeAsInTheWindow_data() {
  QTest::addColumn<QString>("id");
  QTest::addColumn<QSize>("dock");
  for (const ViewInfo& info : viewTable()) {
    QTest::addRow("%s", qPrintable(info.id)) << info.id << QSize(800, 500);
    QTest::addRow("%s, small dock", qPrintable(info.id)) << info.id << QSize(400, 240);
  }
}

/// Twenty documents fit no dock: their picture is larger then, and not its type smaller.
void TestViewExport::typeIsAsLargeAsInTheWindow() {
  QFETCH(QString, id);
  QFETCH(QSize, dock);
  const Theme theme;
  qApp->setPalette(theme.palette());
  qApp->setStyleSheet(theme.styleSheet());
  const ViewInput input = test::twentyDocuments();
  for (const ViewInfo& info : viewTable()) {
    if (info.id != id) continue;
    const ExportItem item = exportItem(info, input, dock);
    const QSize size = pictureSize(item);
    QVERIFY(size.width() >= dock.width() && size.height() >= dock.height());
    const auto paint = [&](QPainter& painter, const QSize& wanted) { item.paint(painter, wanted, theme); };
    const auto svg = makePicture(paint, size, PictureFormat::Svg);
    const std::vector<double> sizes = typeSizes(std::get<QByteArray>(svg));
    if (sizes.empty()) QSKIP("the view writes nothing");
    const double smallest = *std::min_element(sizes.begin(), sizes.end());
    QVERIFY2(
        smallest > theme.smallFont().pixelSize() - 0.1,
        qPrintable(
            QStringLiteral("type of %1 px in %2 × %3").arg(smallest).arg(size.width()).arg(size.height())));
    QVERIFY(std::abs(smallestType(paint, size).value_or(0) - smallest) < 0.05);
    return;
  }
  QFAIL("there is no such view");
}

void TestViewExport::picturesShowNoSelection_data() {
  QTest::addColumn<QString>("id");
  for (const char* id : {"tokens", "block-table", "pool", "attention", "mask", "output", "prediction", "plan",
                         "timeline", "json"})
    QTest::newRow(id) << QString::fromLatin1(id);
}

/// A picture of a view is the same whatever is selected.
void TestViewExport::picturesShowNoSelection() {
  QFETCH(QString, id);
  ViewInput plain = test::twentyDocuments();
  plain.selection = {};
  ViewInput selected = plain;
  const RequestId request = plain.shownRequest();
  selected.selection.nodes = {plain.document->root()};
  selected.selection.request = request;
  selected.selection.block = BlockRef{.request = request, .segment = 1, .virtualIndex = 0};
  selected.selection.token = TokenRef{.request = request, .segment = 1, .local = 2};
  const QSize size(800, 500);
  for (const ViewInfo& info : viewTable()) {
    if (info.id != id) continue;
    const auto picture = [&](const ViewInput& input) {
      return renderItem(exportItem(info, inputForPicture(id, input), size), size, Theme());
    };
    QCOMPARE(picture(selected), picture(plain));
    if (id == QLatin1String("block-table"))
      QVERIFY(renderItem(exportItem(info, selected, size), size, Theme()) != picture(plain));
    return;
  }
  QFAIL("there is no such view");
}

void TestViewExport::onlyWhatHelpsIsLarger_data() {
  QTest::addColumn<QSize>("content");
  QTest::addColumn<QSize>("size");
  QTest::newRow("fits") << QSize(300, 200) << QSize(300, 200);
  QTest::newRow("wide") << QSize(1500, 100) << QSize(1500, 200);
  QTest::newRow("high") << QSize(200, 900) << QSize(300, 900);
  QTest::newRow("both") << QSize(1500, 900) << QSize(1500, 900);
  QTest::newRow("more than a picture may have") << QSize(60'000, 100) << QSize(16384, 200);
}

void TestViewExport::onlyWhatHelpsIsLarger() {
  QFETCH(QSize, content);
  QFETCH(QSize, size);
  QFont font("DejaVu Sans");
  font.setPixelSize(11);
  const auto paint = [&](QPainter& painter, const QSize& wanted) {
    const double scale =
        std::min({1.0, double(wanted.width()) / content.width(), double(wanted.height()) / content.height()});
    painter.scale(scale, scale);
    painter.setFont(font);
    painter.drawText(QPointF(10, 40), "spans");
  };
  const QSize larger = legibleSize(paint, {300, 200}, 11);
  QVERIFY2(std::abs(larger.width() - size.width()) < 12 && std::abs(larger.height() - size.height()) < 12,
           qPrintable(QStringLiteral("%1 × %2").arg(larger.width()).arg(larger.height())));
}

void TestViewExport::statesHavePatternsInVectors_data() {
  QTest::addColumn<BlockRole>("role");
  QTest::addColumn<bool>("hasPattern");
  QTest::newRow("hit") << BlockRole::Hit << false;
  QTest::newRow("relocated") << BlockRole::Relocated << true;
  QTest::newRow("computed") << BlockRole::Computed << true;
  QTest::newRow("evicted") << BlockRole::Evicted << true;
}

/// Colour never says a state alone: what is printed in grey has its pattern too.
void TestViewExport::statesHavePatternsInVectors() {
  QFETCH(BlockRole, role);
  QFETCH(bool, hasPattern);
  const Theme theme(Scheme::Light);
  const BlockPainter blocks(theme);
  constexpr QSize kSize(120, 80);
  const PaintFunction paint = [&](QPainter& painter, const QSize& /*size*/) {
    blocks.fill(painter, QRectF(10, 10, 100, 60), role, QPointF(10, 10));
    blocks.underline(painter, QRectF(10, 72, 100, 3), role);
  };
  const QByteArray svg = std::get<QByteArray>(makePicture(paint, kSize, PictureFormat::Svg));
  QSvgRenderer renderer(svg);
  QVERIFY(renderer.isValid());
  QImage image(kSize, QImage::Format_ARGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  renderer.render(&painter, QRectF(QPointF(), kSize));
  painter.end();
  // Inside there is more than the fill, or that alone; nothing is painted beside the place.
  std::set<QRgb> inside;
  for (int y = 12; y < 68; ++y) {
    for (int x = 12; x < 108; ++x) inside.insert(image.pixel(x, y));
  }
  QCOMPARE(inside.size() > 1, hasPattern);
  for (int x = 0; x < 120; ++x) QVERIFY(image.pixel(x, 8) == QColor(Qt::white).rgb());
  for (int y = 0; y < 80; ++y) QVERIFY(image.pixel(112, y) == QColor(Qt::white).rgb());
  int under = 0;
  for (int x = 10; x < 110; ++x) under += image.pixel(x, 73) == QColor(Qt::white).rgb() ? 0 : 1;
  QVERIFY2(under >= 45, qPrintable(QString::number(under)));
}

SPANSCOPE_TEST(tst_view_export, TestViewExport, QApplication)
#include "tst_view_export.moc"
