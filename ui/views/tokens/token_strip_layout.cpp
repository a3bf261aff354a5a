// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tokens/token_strip_layout.h"

#include <QCoreApplication>
#include <QFontMetrics>

#include <algorithm>
#include <cstdlib>

namespace spanscope::ui {
namespace {

constexpr int kPadding = 4;   // space left and right of a token's text
constexpr int kWordGap = 4;   // gap before a token that starts a word
constexpr int kJoinGap = 1;   // gap before a token that continues a word
constexpr int kBlockGap = 6;  // gap before a token that opens a block
constexpr int kSegmentGap = 12;
constexpr int kTailGap = 2;  // gap before the open rest of a block
constexpr int kLeastTile = 12;

bool isPlain(const QString& text) {
  return std::all_of(text.begin(), text.end(),
                     [](QChar c) { return c.unicode() >= 0x20 && c.unicode() < 0x7F; });
}

}  // namespace

std::size_t StripLayout::rowOf(std::size_t token) const {
  const auto after = std::upper_bound(rows.begin(), rows.end(), token);
  return after == rows.begin() ? 0 : static_cast<std::size_t>(after - rows.begin()) - 1;
}

std::size_t StripLayout::rowEnd(std::size_t row) const {
  return row + 1 < rows.size() ? rows[row + 1] : tiles.size();
}

std::size_t StripLayout::at(const QPoint& place) const {
  if (place.y() < kStripMargin || rows.empty()) return tiles.size();
  const auto row = static_cast<std::size_t>((place.y() - kStripMargin) / kStripRow);
  if (row >= rows.size()) return tiles.size();
  for (std::size_t i = rows[row]; i < rowEnd(row); ++i) {
    if (tiles[i].adjusted(-2, 0, 2, 2 * kSpace).contains(place)) return i;
  }
  return tiles.size();
}

std::size_t StripLayout::nearest(std::size_t row, int x) const {
  std::size_t best = tiles.size();
  int least = 0;
  for (std::size_t i = rows[row]; i < rowEnd(row); ++i) {
    const int distance = std::abs(tiles[i].center().x() - x);
    if (best == tiles.size() || distance < least) {
      best = i;
      least = distance;
    }
  }
  return best;
}

QString tailText(std::int32_t tokens, std::int32_t blockSize) {
  return QCoreApplication::translate("tokens", "%1 of %2").arg(tokens).arg(blockSize);
}

StripLayout layOutTokens(const TokenStrip& strip, int width, const QFont& mono, const QFont& small) {
  StripLayout layout;
  layout.width = width;
  layout.tiles.reserve(strip.tokens.size());
  layout.tails.reserve(strip.tokens.size());
  const QFontMetrics metrics(mono);
  const QFontMetrics smallMetrics(small);
  const int advance = metrics.horizontalAdvance(QLatin1Char('m'));
  const int right = std::max(width - kStripMargin, kStripMargin + 80);
  int x = kStripMargin;
  int y = kStripMargin;
  for (std::size_t i = 0; i < strip.tokens.size(); ++i) {
    const StripToken& token = strip.tokens[i];
    const int text = isPlain(token.text) ? advance * static_cast<int>(token.text.size())
                                         : metrics.horizontalAdvance(token.text);
    const int own = std::min(std::max(text + 2 * kPadding, kLeastTile), right - kStripMargin);
    const int tailWidth =
        token.tail > 0
            ? smallMetrics.horizontalAdvance(tailText(token.tail, strip.blockSize)) + 2 * kPadding + kTailGap
            : 0;
    const bool rowStarts = x == kStripMargin;
    if (!rowStarts) {
      const bool segmentStarts = token.segment != strip.tokens[i - 1].segment;
      x += segmentStarts ? kSegmentGap : token.opensBlock ? kBlockGap : token.joined ? kJoinGap : kWordGap;
      if (x + own + tailWidth > right) {
        x = kStripMargin;
        y += kStripRow;
      }
    }
    if (x == kStripMargin) layout.rows.push_back(i);
    layout.tiles.emplace_back(x, y + kStripLabel, own, kStripTile);
    x += own;
    QRect tail;
    if (tailWidth > 0) {
      tail = QRect(x + kTailGap, y + kStripLabel, tailWidth - kTailGap, kStripTile);
      x += tailWidth;
    }
    layout.tails.push_back(tail);
  }
  layout.height = strip.tokens.empty() ? 0 : y + kStripRow + kStripMargin;
  return layout;
}

}  // namespace spanscope::ui
