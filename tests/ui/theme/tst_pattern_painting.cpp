// SPDX-License-Identifier: GPL-3.0-or-later
// Patterns look alike on the screen and in files of vectors.
#include "tests/support/test_program.h"
#include "ui/theme/pattern_painting.h"
#include "ui/theme/theme.h"

#include <QBuffer>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QSvgGenerator>
#include <QSvgRenderer>
#include <QTest>

#include <cmath>

using namespace spanscope::ui;

namespace {

constexpr QSize kSize(120, 60);
const QRectF kArea(10, 10, 100, 40);

void paint(QPainter& painter, const QBrush& pattern, double radius) {
  painter.fillRect(QRectF(QPointF(), kSize), Qt::white);
  painter.fillRect(kArea, Qt::darkGreen);
  painter.setBrushOrigin(kArea.topLeft());
  fillPattern(painter, kArea, pattern, radius);
}

/// Mean colour of a part, 0 … 255.
double meanOf(const QImage& image, const QRect& part) {
  double sum = 0;
  for (int y = part.top(); y <= part.bottom(); ++y) {
    for (int x = part.left(); x <= part.right(); ++x) sum += qGray(image.pixel(x, y));
  }
  return sum / (part.width() * part.height());
}

int coloursIn(const QImage& image, const QRect& part) {
  QSet<QRgb> colours;
  for (int y = part.top(); y <= part.bottom(); ++y) {
    for (int x = part.left(); x <= part.right(); ++x) colours += image.pixel(x, y);
  }
  return static_cast<int>(colours.size());
}

}  // namespace

class TestPatternPainting : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void filesOfVectorsHaveThem_data() {
    QTest::addColumn<QBrush>("pattern");
    QTest::addColumn<double>("radius");
    QTest::addColumn<bool>("isPattern");
    const Theme theme(Scheme::Light);
    QTest::newRow("hit") << theme.pattern(BlockRole::Hit) << 0.0 << false;
    QTest::newRow("relocated") << theme.pattern(BlockRole::Relocated) << 0.0 << true;
    QTest::newRow("computed, round corners") << theme.pattern(BlockRole::Computed) << 3.0 << true;
    for (const std::size_t turn : {1, 2, 3})
      QTest::addRow("segments beyond %zu hues", turn)
          << theme.segmentPattern(turn * kSegmentHues) << 0.0 << true;
    QTest::newRow("of Qt") << QBrush(Qt::white, Qt::VerPattern) << 0.0 << true;
  }
  void filesOfVectorsHaveThem() {
    QFETCH(QBrush, pattern);
    QFETCH(double, radius);
    QFETCH(bool, isPattern);
    QImage screen(kSize, QImage::Format_RGB32);
    QPainter onScreen(&screen);
    paint(onScreen, pattern, radius);
    onScreen.end();

    QBuffer file;
    QSvgGenerator generator;
    generator.setOutputDevice(&file);
    generator.setSize(kSize);
    generator.setViewBox(QRect(QPoint(), kSize));
    QPainter toFile(&generator);
    QVERIFY(paintsVectors(toFile));
    paint(toFile, pattern, radius);
    toFile.end();
    QImage read(kSize, QImage::Format_RGB32);
    read.fill(Qt::white);
    QPainter again(&read);
    QSvgRenderer(file.data()).render(&again, QRectF(QPointF(), kSize));
    again.end();

    const QRect inside = kArea.toRect().adjusted(3, 3, -3, -3);
    QCOMPARE(coloursIn(read, inside) > 1, isPattern);
    QCOMPARE(coloursIn(screen, inside) > 1, isPattern);
    const double far = std::abs(meanOf(read, inside) - meanOf(screen, inside));
    QVERIFY2(far < 4, qPrintable(QString::number(far)));
    QCOMPARE(coloursIn(read, QRect(0, 0, kSize.width(), 9)), 1);
  }
};

SPANSCOPE_TEST(tst_pattern_painting, TestPatternPainting, QGuiApplication)
#include "tst_pattern_painting.moc"
