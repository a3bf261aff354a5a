// SPDX-License-Identifier: GPL-3.0-or-later
// Holds a picture to another one, tile by tile: what is small but clear, a node that is missing or a line
// that moved, must not drown in the rest of the picture, and a shade that a machine rounds otherwise must not
// count.
#pragma once

#include <QImage>
#include <QRect>
#include <QSize>
#include <QString>

#include <vector>

namespace spanscope::test {

inline constexpr int kTileSize = 16;  ///< pixels
/// Most that the mean difference of a tile may be, per channel, of 0 … 255. Where every channel is rounded
/// the other way it is 1; of the faults that tst_pictures plants, the faintest, two hues exchanged,
/// reaches 15.
inline constexpr double kTileLimit = 2;

struct TileFault {
  QRect tile;             ///< smaller than kTileSize at the right and lower edge
  double difference = 0;  ///< mean of its pixels, in the channel that differs most; 0 … 255
};

struct PictureComparison {
  QSize expected;
  QSize found;
  std::vector<TileFault> faults;  ///< in reading order; none are looked for in pictures of other sizes
  double worst = 0;               ///< difference of the tile that differs most, faulty or not
  bool areAlike() const { return expected == found && faults.empty(); }
};

PictureComparison comparePictures(const QImage& expected, const QImage& found, double limit = kTileLimit);

/// One line: what differs and where, or how near the pictures are.
QString comparisonText(const PictureComparison& comparison);

/// Where the pictures, of one size, differ: darker is more, faulty tiles are framed.
QImage differencePicture(const QImage& expected, const QImage& found, const PictureComparison& comparison);

}  // namespace spanscope::test
