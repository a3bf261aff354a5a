// SPDX-License-Identifier: GPL-3.0-or-later
// Compares two pictures tile by tile. A small but clear difference, such as a missing node or a moved line,
// must not drown in the rest of the picture. A shade that another machine rounds differently must not count.
#pragma once

#include <QImage>
#include <QRect>
#include <QSize>
#include <QString>

#include <vector>

namespace spanscope::test {

inline constexpr int kTileSize = 16;  ///< pixels
/// The largest mean difference that a tile may have in a channel, of 0 … 255. If every channel is rounded the
/// other way, the difference is 1. The faintest fault that tst_pictures plants, two swapped hues, reaches 15.
inline constexpr double kTileLimit = 2;

struct TileFault {
  QRect tile;             ///< smaller than kTileSize at the right and lower edge
  double difference = 0;  ///< mean over its pixels, in the channel that differs most; 0 … 255
};

struct PictureComparison {
  QSize expected;
  QSize found;
  std::vector<TileFault> faults;  ///< in reading order; empty if the sizes of the pictures differ
  double worst = 0;               ///< difference of the tile that differs most, faulty or not
  bool areAlike() const { return expected == found && faults.empty(); }
};

PictureComparison comparePictures(const QImage& expected, const QImage& found, double limit = kTileLimit);

/// One line: what differs and where, or how near the pictures are.
QString comparisonText(const PictureComparison& comparison);

/// A picture that shows where two pictures of the same size differ. Darker means more; faulty tiles are
/// framed.
QImage differencePicture(const QImage& expected, const QImage& found, const PictureComparison& comparison);

}  // namespace spanscope::test
