// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/picture_compare.h"

#include <QPainter>
#include <QStringList>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace spanscope::test {
namespace {

constexpr int kChannels = 4;
constexpr std::size_t kMostNamed = 8;  // faulty tiles in a message

using Channels = std::array<int, kChannels>;

/// Blue, green, red, alpha: how they differ.
Channels difference(QRgb a, QRgb b) {
  return {std::abs(qBlue(a) - qBlue(b)), std::abs(qGreen(a) - qGreen(b)), std::abs(qRed(a) - qRed(b)),
          std::abs(qAlpha(a) - qAlpha(b))};
}

const QRgb* rowOf(const QImage& image, int y) {
  return reinterpret_cast<const QRgb*>(image.constScanLine(y));
}

double tileDifference(const QImage& expected, const QImage& found, const QRect& tile) {
  std::array<std::int64_t, kChannels> sums{};
  for (int y = tile.top(); y <= tile.bottom(); ++y) {
    const QRgb* one = rowOf(expected, y);
    const QRgb* other = rowOf(found, y);
    for (int x = tile.left(); x <= tile.right(); ++x) {
      const Channels differs = difference(one[x], other[x]);
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += differs[c];
    }
  }
  const auto pixels = static_cast<double>(tile.width()) * tile.height();
  return static_cast<double>(*std::max_element(sums.begin(), sums.end())) / pixels;
}

QString sizeText(const QSize& size) {
  return QStringLiteral("%1 × %2").arg(size.width()).arg(size.height());
}

}  // namespace

PictureComparison comparePictures(const QImage& expected, const QImage& found, double limit) {
  PictureComparison comparison{.expected = expected.size(), .found = found.size(), .faults = {}, .worst = 0};
  if (comparison.expected != comparison.found) return comparison;
  const QImage one = expected.convertToFormat(QImage::Format_ARGB32);
  const QImage other = found.convertToFormat(QImage::Format_ARGB32);
  for (int y = 0; y < one.height(); y += kTileSize) {
    for (int x = 0; x < one.width(); x += kTileSize) {
      const QRect tile = QRect(x, y, kTileSize, kTileSize).intersected(one.rect());
      const double differs = tileDifference(one, other, tile);
      comparison.worst = std::max(comparison.worst, differs);
      if (differs > limit) comparison.faults.push_back({.tile = tile, .difference = differs});
    }
  }
  return comparison;
}

QString comparisonText(const PictureComparison& comparison) {
  if (comparison.expected != comparison.found) {
    return QStringLiteral("is %1 pixels, expected %2")
        .arg(sizeText(comparison.found), sizeText(comparison.expected));
  }
  const QString worst = QString::number(comparison.worst, 'f', 2);
  if (comparison.areAlike()) return QStringLiteral("no tile differs by more than %1").arg(worst);
  std::vector<TileFault> faults = comparison.faults;
  std::stable_sort(faults.begin(), faults.end(),
                   [](const TileFault& a, const TileFault& b) { return a.difference > b.difference; });
  QStringList named;
  for (std::size_t i = 0; i < std::min(faults.size(), kMostNamed); ++i) {
    named += QStringLiteral("%1 at (%2, %3)")
                 .arg(faults[i].difference, 0, 'f', 2)
                 .arg(faults[i].tile.x())
                 .arg(faults[i].tile.y());
  }
  if (faults.size() > kMostNamed) named += QStringLiteral("…");
  return QStringLiteral("%1 tiles differ, by %2 at most: %3")
      .arg(faults.size())
      .arg(worst, named.join(QStringLiteral(", ")));
}

QImage differencePicture(const QImage& expected, const QImage& found, const PictureComparison& comparison) {
  const QImage one = expected.convertToFormat(QImage::Format_ARGB32);
  const QImage other = found.convertToFormat(QImage::Format_ARGB32);
  QImage picture(one.size(), QImage::Format_RGB32);
  picture.fill(Qt::white);
  for (int y = 0; y < picture.height(); ++y) {
    auto* row = reinterpret_cast<QRgb*>(picture.scanLine(y));
    for (int x = 0; x < picture.width(); ++x) {
      const Channels differs = difference(rowOf(one, y)[x], rowOf(other, y)[x]);
      // Small differences are easiest to distinguish where there are few steps: the first quarter has half
      // the greys.
      const int most = *std::max_element(differs.begin(), differs.end());
      const int ink = most < 64 ? most * 2 : 128 + (most - 64) * 127 / 191;
      row[x] = qRgb(255 - ink, 255 - ink, 255 - ink);
    }
  }
  QPainter painter(&picture);
  painter.setPen(Qt::red);
  for (const TileFault& fault : comparison.faults) painter.drawRect(fault.tile.adjusted(0, 0, -1, -1));
  return picture;
}

}  // namespace spanscope::test
