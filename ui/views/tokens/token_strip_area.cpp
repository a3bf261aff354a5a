// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tokens/token_strip_area.h"

#include "ui/theme/pattern_painting.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/common/text_painting.h"
#include "ui/words/part_text.h"

#include <QCoreApplication>
#include <QFontMetrics>
#include <QKeyEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace spanscope::ui {

TokenStripArea::TokenStripArea(QWidget* parent) : PaintedScroll(parent) {
  setAccessibleName(tr("Tokens of the prompt and the answer"));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

void TokenStripArea::showStrip(const TokenStrip* strip, bool changed, std::size_t current,
                               const Theme& theme) {
  changed = changed || m_strip == nullptr;
  m_strip = strip;
  m_current = current;
  setTheme(theme);
  m_painter.setTheme(theme);
  if (changed) layOut();
  viewport()->update();
}

void TokenStripArea::showMotion(const StripMotion* motion, double done) {
  if (motion == nullptr && m_motion == nullptr) return;
  m_motion = motion;
  m_done = done;
  viewport()->update();
}

void TokenStripArea::layOut() {
  if (m_strip == nullptr) return;
  m_layout = layOutTokens(*m_strip, viewport()->width(), theme().monoFont(), theme().smallFont());
  contentChanged();
}

void TokenStripArea::reveal(std::size_t token) {
  if (token < m_layout.tiles.size()) makeVisible(m_layout.tiles[token], 5 * kSpace);
}

bool TokenStripArea::isInSight(std::size_t token, int height) const {
  if (token >= m_layout.tiles.size()) return false;
  return QRect(offset(), QSize(m_layout.width, height)).intersects(m_layout.tiles[token]);
}

QSize TokenStripArea::contentSize() const {
  if (m_layout.tiles.empty()) return viewport()->size();
  return {m_layout.width, m_layout.height};
}

void TokenStripArea::resizeEvent(QResizeEvent* event) {
  // A visible selected token stays visible, although another width moves it to another row.
  const bool wasSeen = isInSight(m_current, event->oldSize().height());
  if (m_layout.width != viewport()->width()) layOut();
  PaintedScroll::resizeEvent(event);
  if (wasSeen) reveal(m_current);
}

void TokenStripArea::paintContent(QPainter& painter, const QRect& visible) {
  if (m_strip == nullptr || m_strip->tokens.empty()) {
    paintEmpty(painter, visible);
    return;
  }
  painter.setFont(theme().monoFont());
  const int first = std::max(0, (visible.top() - kStripMargin) / kStripRow);
  for (auto row = static_cast<std::size_t>(first); row < m_layout.rows.size(); ++row) {
    if (kStripMargin + static_cast<int>(row) * kStripRow > visible.bottom()) break;
    paintRow(painter, row);
  }
  if (m_motion != nullptr && !exporting()) paintTravels(painter, visible);
}

void TokenStripArea::paintTravels(QPainter& painter, const QRect& visible) const {
  const double done = eased(m_done);
  const QFontMetrics metrics(theme().monoFont());
  QRect first;
  painter.setFont(theme().monoFont());
  for (const TokenTravel& travel : m_motion->travels) {
    const QRect& from = m_layout.tiles[travel.from];
    const QRect& to = m_layout.tiles[travel.to];
    const QPoint way = to.topLeft() - from.topLeft();
    const QRect tile(from.topLeft() + QPoint(static_cast<int>(std::lround(way.x() * done)),
                                             static_cast<int>(std::lround(way.y() * done))),
                     to.size());
    if (!tile.intersects(visible)) continue;
    const StripToken& token = m_strip->tokens[travel.to];
    fillWithHue(painter, tile, theme(), theme().segmentTint(m_strip->segments[token.segment].hue),
                m_strip->segments[token.segment].hue);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().ink(BlockRole::Relocated), 1));
    painter.drawRect(tile.adjusted(0, 0, -1, -1));
    painter.setPen(theme().color(Role::Text));
    const int baseline = tile.top() + (kStripTile + metrics.ascent() - metrics.descent()) / 2;
    painter.drawText(QPoint(tile.left() + kSpace, baseline), token.text);
    m_painter.underline(painter, QRectF(tile.left(), tile.bottom() + 2, tile.width(), 3), token.role);
    if (first.isNull()) first = tile;
  }
  if (!first.isNull())
    paintMotionNote(painter, theme(), first, visible.adjusted(kSpace, 0, -kSpace, 0), m_motion->note,
                    theme().ink(BlockRole::Relocated));
}

/// Paints how the token got its key and value. During a motion, paints only the completed part.
void TokenStripArea::paintUnderline(QPainter& painter, std::size_t index) const {
  const StripToken& token = m_strip->tokens[index];
  const QRect& tile = m_layout.tiles[index];
  const QRectF line(tile.left(), tile.bottom() + 2, tile.width(), 3);
  const bool moves = m_motion != nullptr && !exporting();
  const StripToken* before = moves ? m_motion->tokenBefore(*m_strip, index) : nullptr;
  const bool isComputing = before != nullptr && m_motion->isComputing(index);
  const bool changes = isComputing || (before != nullptr &&
                                       (before->role != token.role || before->computed != token.computed));
  if (!changes) {
    if (token.computed) m_painter.underline(painter, line, token.role);
    return;
  }
  if (before->computed) m_painter.underline(painter, line, isComputing ? BlockRole::Free : before->role);
  if (!token.computed || m_motion->travelsTo(index)) return;
  painter.fillRect(QRectF(line.left(), line.top(), line.width() * m_done, line.height()),
                   theme().color(Role::Surface));
  m_painter.underline(painter, QRectF(line.left(), line.top(), line.width() * m_done, line.height()),
                      token.role);
}

void TokenStripArea::paintEmpty(QPainter& painter, const QRect& visible) const {
  painter.setFont(theme().interfaceFont());
  painter.setPen(theme().color(Role::TextThird));
  painter.drawText(visible.adjusted(16, 16, -16, -16), Qt::AlignCenter | Qt::TextWordWrap,
                   tr("The tokens of the prompt appear here when a query runs. Colors show how the cache "
                      "served each token."));
}

void TokenStripArea::paintRow(QPainter& painter, std::size_t row) const {
  const std::size_t begin = m_layout.rows[row];
  const std::size_t end = m_layout.rowEnd(row);
  // Generated tokens appear gradually.
  const std::size_t there = m_motion == nullptr || exporting() || m_motion->before.request != m_strip->request
                                ? m_strip->tokens.size()
                                : m_motion->before.tokens.size();
  for (std::size_t i = begin; i < end; ++i) {
    if (i >= there) painter.setOpacity(m_done);
    paintToken(painter, i);
  }
  painter.setOpacity(1);

  // Rules and labels of blocks are painted last, over the tiles. A label that would run into the previous one
  // is left out.
  const QFont small = theme().smallFont();
  const QFontMetrics metrics(small);
  painter.setFont(small);
  int free = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const StripToken& token = m_strip->tokens[i];
    const bool generationStarts = i == m_strip->prompt && token.generated;
    if (!token.opensBlock && !generationStarts) continue;
    const QRect& tile = m_layout.tiles[i];
    const int x = std::max(2, tile.left() - 3);
    if (token.opensBlock) {
      painter.fillRect(QRect(x, tile.top() - kStripLabel + 2, 1, kStripLabel + kStripTile + 3),
                       theme().color(Role::TextThird));
    }
    QString label = token.opensBlock ? tr("block %1").arg(token.block) : tr("generated");
    if (generationStarts && token.opensBlock) label += tr(" · generated");
    if (generationStarts && m_strip->lookedAt) {
      label += tr(" · height: attention to %1, up to %2")
                   .arg(m_strip->segments[*m_strip->lookedAt].name, partText(m_strip->mostLooked));
    }
    if (x + 3 < free) continue;
    // If the next label comes soon, only the number is written.
    if (token.opensBlock && m_strip->blockSize <= 4) label = QString::number(token.block);
    label = metrics.elidedText(label, Qt::ElideRight, std::max(0, contentSize().width() - x - 8));
    painter.setPen(theme().color(Role::TextThird));
    painter.drawText(QPoint(x + 4, tile.top() - 3), label);
    free = x + 8 + metrics.horizontalAdvance(label);
  }
  painter.setFont(theme().monoFont());
}

void TokenStripArea::paintToken(QPainter& painter, std::size_t index) const {
  const StripToken& token = m_strip->tokens[index];
  const StripSegment& segment = m_strip->segments[token.segment];
  const QRect& tile = m_layout.tiles[index];
  if (token.generated) {
    painter.setPen(theme().segmentInk(segment.hue));
    painter.setBrush(theme().color(Role::Surface));
    painter.drawRect(tile.adjusted(0, 0, -1, -1));
    paintLook(painter, token, tile);
  } else if (token.part == StripPart::Own) {
    fillWithHue(painter, tile, theme(), theme().segmentTint(segment.hue), segment.hue);
  } else {
    paintPart(painter, token, tile);
  }
  painter.setPen(theme().color(token.part == StripPart::Marker ? Role::Surface
                               : token.quiet                   ? Role::TextSecond
                                                               : Role::Text));
  const QFontMetrics metrics = painter.fontMetrics();
  const int baseline = tile.top() + (kStripTile + metrics.ascent() - metrics.descent()) / 2;
  // Only a token that is as wide as a whole row may be cut off.
  const bool cut = tile.width() >= m_layout.width - 2 * kStripMargin;
  const QString text =
      cut ? metrics.elidedText(token.text, Qt::ElideRight, tile.width() - 2 * kSpace) : token.text;
  painter.drawText(QPoint(tile.left() + kSpace, baseline), text);
  if (token.part == StripPart::Cropped) {
    painter.setPen(QPen(theme().color(Role::Error), 1));
    painter.drawLine(tile.left() + 1, tile.center().y() + 1, tile.right() - 1, tile.center().y() + 1);
  }
  paintUnderline(painter, index);
  const QRect& tail = m_layout.tails[index];
  if (!tail.isNull()) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().color(Role::Outline), 1, Qt::DashLine));
    painter.drawRect(tail.adjusted(0, 0, -1, -1));
    painter.setFont(theme().smallFont());
    painter.setPen(theme().color(Role::TextThird));
    painter.drawText(tail, Qt::AlignCenter, tailText(token.tail, m_strip->blockSize));
    painter.setFont(theme().monoFont());
  }
  if (m_current >= m_strip->tokens.size()) return;
  const StripToken& current = m_strip->tokens[m_current];
  if (index == m_current) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().color(Role::Accent), 2));
    painter.drawRect(tile);
  } else if (token.block >= 0 && token.block == current.block) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().color(Role::Accent), 1));
    painter.drawRect(tile.adjusted(0, 0, -1, -1));
  }
}

/// Paints a delimiter token inverted, and a padding token hatched. A truncated token is an empty outline with
/// its text struck out.
void TokenStripArea::paintPart(QPainter& painter, const StripToken& token, const QRect& tile) const {
  switch (token.part) {
    case StripPart::Own:
      break;
    case StripPart::Marker:
      painter.fillRect(tile, theme().color(Role::TextSecond));
      break;
    case StripPart::Pad:
      fillPattern(painter, tile, QBrush(theme().color(Role::TextThird), Qt::BDiagPattern));
      break;
    case StripPart::Cropped:
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(theme().color(Role::Outline), 1, Qt::DotLine));
      painter.drawRect(tile.adjusted(0, 0, -1, -1));
      break;
  }
}

void TokenStripArea::paintLook(QPainter& painter, const StripToken& token, const QRect& tile) const {
  if (token.looked < 0 || !m_strip->lookedAt || m_strip->mostLooked <= 0) return;
  const std::size_t hue = m_strip->segments[*m_strip->lookedAt].hue;
  const int room = tile.height() - 2;
  const int height = static_cast<int>(std::lround(room * token.looked / m_strip->mostLooked));
  const QRect part(tile.left() + 1, tile.bottom() - height, tile.width() - 2, height);
  fillWithHue(painter, part, theme(), theme().segmentTint(hue), hue);
  if (height > 0) painter.fillRect(QRect(part.left(), part.top(), part.width(), 1), theme().segmentInk(hue));
}

void TokenStripArea::pressed(const QPoint& place) {
  const std::size_t token = m_layout.at(place);
  if (token < m_layout.tiles.size()) Q_EMIT chosen(token);
}

QString TokenStripArea::tipAt(const QPoint& place) const {
  const std::size_t token = m_layout.at(place);
  return token < m_layout.tiles.size() && m_tips ? m_tips(token) : QString();
}

std::size_t TokenStripArea::target(const QKeyEvent& event) const {
  const std::size_t count = m_layout.tiles.size();
  const bool none = m_current >= count;
  const std::size_t row = none ? 0 : m_layout.rowOf(m_current);
  const auto page = static_cast<std::size_t>(std::max(1, viewport()->height() / kStripRow - 1));
  const int x = none ? 0 : m_layout.tiles[m_current].center().x();
  const auto inRow = [&](std::size_t wanted) {
    const std::size_t token = m_layout.nearest(std::min(wanted, m_layout.rows.size() - 1), x);
    return token < count ? token : m_current;
  };
  const bool byBlock = event.modifiers().testFlag(Qt::ControlModifier);
  const auto block = [this](std::size_t token) { return m_strip->tokens[token].block; };
  switch (event.key()) {
    case Qt::Key_Right: {
      if (none) return 0;
      std::size_t next = m_current + 1;
      while (byBlock && next < count && block(next) == block(m_current)) ++next;
      return std::min(next, count - 1);
    }
    case Qt::Key_Left: {
      if (none || m_current == 0) return 0;
      std::size_t next = m_current - 1;
      while (byBlock && next > 0 && block(next - 1) == block(next)) --next;
      return next;
    }
    case Qt::Key_Down:
      return none ? 0 : inRow(row + 1);
    case Qt::Key_Up:
      return none ? 0 : inRow(row == 0 ? 0 : row - 1);
    case Qt::Key_PageDown:
      return none ? 0 : inRow(row + page);
    case Qt::Key_PageUp:
      return none ? 0 : inRow(row < page ? 0 : row - page);
    case Qt::Key_Home:
      return byBlock ? 0 : m_layout.rows[row];
    case Qt::Key_End:
      return byBlock ? count - 1 : m_layout.rowEnd(row) - 1;
    default:
      return count;
  }
}

void TokenStripArea::keyPressEvent(QKeyEvent* event) {
  const std::size_t count = m_layout.tiles.size();
  std::size_t next = count == 0 ? count : target(*event);
  // A truncated token has no place to select, so keys skip it.
  const bool isBack = m_current < count && next < m_current;
  while (next < count && m_strip->tokens[next].part == StripPart::Cropped)
    next = isBack ? (next == 0 ? count : next - 1) : next + 1;
  if (next >= count) {
    PaintedScroll::keyPressEvent(event);
    return;
  }
  reveal(next);
  if (next != m_current) Q_EMIT chosen(next);
}

namespace {

constexpr int kPadding = 4;   // space left and right of a token's text
constexpr int kWordGap = 4;   // gap before a token that starts a word
constexpr int kJoinGap = 1;   // gap before a token that continues a word
constexpr int kBlockGap = 6;  // gap before a token that opens a block
constexpr int kSegmentGap = 12;
constexpr int kTailGap = 2;  // gap before the free slots of a partial block
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
