// SPDX-License-Identifier: GPL-3.0-or-later
// Computes where the tokens of a strip stand when they are wrapped to a width. All values are in pixels of
// the content.
#pragma once

#include "ui/views/tokens/token_strip_model.h"

#include <QFont>
#include <QPoint>
#include <QRect>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

inline constexpr int kStripMargin = 3 * kSpace;
inline constexpr int kStripRow = 40;    ///< height of a row
inline constexpr int kStripLabel = 12;  ///< part of a row, at its top, for the labels of blocks
inline constexpr int kStripTile = 20;   ///< height of a token

struct StripLayout {
  std::vector<QRect> tiles;  ///< one for each token
  std::vector<QRect> tails;  ///< for each token: the open rest of a partial block that it ends; null: none
  std::vector<std::size_t> rows;  ///< first token of each row
  int width = 0;
  int height = 0;

  /// The token whose tile or underline is at a place; tiles.size(): none.
  std::size_t at(const QPoint& place) const;
  std::size_t rowOf(std::size_t token) const;
  /// The token in a row nearest to x.
  std::size_t nearest(std::size_t row, int x) const;
  std::size_t rowEnd(std::size_t row) const;
};

/// The text after the last token of a partial block: "10 of 16".
QString tailText(std::int32_t tokens, std::int32_t blockSize);

/// Lays out a strip. It measures each token only once.
StripLayout layOutTokens(const TokenStrip& strip, int width, const QFont& mono, const QFont& small);

}  // namespace spanscope::ui
