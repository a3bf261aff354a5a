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
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kLabel = 12;      // pixels: height of the block labels above the tiles
constexpr int kLook = 13;       // pixels: height of a bar of attention
constexpr int kRulerStep = 10;  // positions between two numbers of the ruler

}  // namespace

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
  m_form = form();
  m_layout = layOutTokens(*m_strip, viewport()->width(), theme().monoFont(), theme().smallFont(), m_form);
  contentChanged();
}

StripForm TokenStripArea::form() const {
  // Without the cache, bars and names are the content.
  const bool isLow = m_strip != nullptr && m_strip->showsCache && viewport()->height() < kLowStrip;
  return isLow ? StripForm::Low : StripForm::Whole;
}

void TokenStripArea::reveal(std::size_t token) {
  if (token >= m_layout.tiles.size()) return;
  keepVisible([this, token, request = m_strip->request] {
    if (m_strip->request == request) scrollToToken(token);
  });
}

void TokenStripArea::scrollToToken(std::size_t token) {
  if (token >= m_layout.tiles.size()) return;
  constexpr int kAround = 7 * kSpace;
  // In a low area, a token without its surroundings is better than only its surroundings.
  const int room = viewport()->height();
  const int beside = std::clamp((room - kStripTile - kStripServed) / 2, 0, kAround);
  QRect place = m_layout.tiles[token].adjusted(-kAround, -beside, kAround, kStripServed + beside);
  // The name above the first line of a section is either whole or out of sight.
  const std::size_t line = m_layout.lineOf(token);
  const auto group = std::ranges::find_if(m_layout.groups, [&](const StripGroup& each) {
    return each.first < m_layout.tiles.size() && m_layout.lineOf(each.first) == line;
  });
  if (group != m_layout.groups.end() && place.bottom() - group->head.top() < room)
    place.setTop(std::min(place.top(), group->head.top()));
  makeVisible(place, 0);
}

void TokenStripArea::revealGroup(std::size_t first) {
  keepVisible([this, first, request = m_strip == nullptr ? RequestId{0} : m_strip->request] {
    const QRect place = m_layout.groupRect(first);
    if (!place.isNull() && m_strip->request == request) scrollTo(QPoint(0, place.top()));
  });
}

void TokenStripArea::paintFrom(QPainter& painter, const QRect& area, std::size_t first) {
  if (m_strip == nullptr) return;
  const StripLayout kept =
      std::exchange(m_layout, layOutTokens(*m_strip, area.width(), theme().monoFont(), theme().smallFont()));
  const int top =
      std::clamp(m_layout.groupRect(first).top(), 0, std::max(0, m_layout.height - area.height()));
  painter.save();
  painter.setClipRect(area);
  painter.translate(area.left(), area.top() - top);
  paintContent(painter, QRect(0, top, area.width(), area.height()));
  painter.restore();
  m_layout = kept;
}

void TokenStripArea::paintFitting(QPainter& painter, const QSize& size) {
  if (m_strip == nullptr || m_layout.tiles.empty()) return paintWhole(painter, size);
  constexpr int kMostWidth = 1 << 14;  // pixels
  const auto laidOut = [this](int width) {
    return layOutTokens(*m_strip, width, theme().monoFont(), theme().smallFont());
  };
  int width = std::max(1, size.width());
  StripLayout fitting = laidOut(width);
  while (std::int64_t{fitting.height} * size.width() > std::int64_t{size.height()} * width &&
         width < kMostWidth) {
    width += width / 8 + 1;
    fitting = laidOut(width);
  }
  const StripLayout kept = std::exchange(m_layout, std::move(fitting));
  paintWhole(painter, size);
  m_layout = kept;
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
  // A revealed place stays visible. So does a visible selected token, although another width moves it to
  // another line. Otherwise the first visible line stays the first.
  const bool wasSeen = isInSight(m_current, event->oldSize().height());
  const std::size_t top = m_layout.at(offset().y());
  if (m_layout.width != viewport()->width() || m_form != form()) layOut();
  PaintedScroll::resizeEvent(event);
  if (keepsPlace()) return;
  if (wasSeen) {
    scrollToToken(m_current);
  } else if (top > 0 && top < m_layout.tiles.size()) {
    const QRect group = m_layout.groupRect(top);
    scrollTo(QPoint(0, group.isNull() ? m_layout.lines[m_layout.lineOf(top)].top : group.top()));
  }
}

void TokenStripArea::paintContent(QPainter& painter, const QRect& visible) {
  if (m_strip == nullptr || m_strip->tokens.empty()) {
    paintEmpty(painter, visible);
    return;
  }
  for (const StripGroup& group : m_layout.groups) {
    if (group.head.intersects(visible)) paintHead(painter, group);
  }
  painter.setFont(theme().monoFont());
  for (std::size_t line = 0; line < m_layout.lines.size(); ++line) {
    if (m_layout.lines[line].bottom < visible.top()) continue;
    if (m_layout.lines[line].top > visible.bottom()) break;
    paintLine(painter, line);
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
  paintEmptyText(painter, visible,
                 m_strip->request != 0
                     ? tr("This request failed before the model read the prompt. Open Log for the reason.")
                     : tr("The tokens of the prompt appear here when a query runs. Colors show how the "
                          "cache served each token."),
                 theme());
}

void TokenStripArea::paintHead(QPainter& painter, const StripGroup& group) const {
  const StripToken& token = m_strip->tokens[group.first];
  const StripSegment& segment = m_strip->segments[token.segment];
  const QColor ink = segment.isPale ? theme().color(Role::TextThird) : theme().segmentInk(segment.hue);
  const QRect stripe(group.head.left(), group.head.top() + 2, 3, group.head.height() - 4);
  if (group.isAnswer || segment.isPale)
    painter.fillRect(stripe, ink);
  else
    fillWithHue(painter, stripe, theme(), ink, segment.hue);
  QFont bold = theme().smallFont();
  bold.setWeight(QFont::DemiBold);
  painter.setFont(bold);
  painter.setPen(ink);
  QRect text = group.head.adjusted(2 * kSpace, 0, 0, 0);
  const QString name = group.isAnswer ? tr("answer") : segment.name;
  painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                   shortName(name, text.width(), painter.fontMetrics()));
  text.setLeft(text.left() + painter.fontMetrics().horizontalAdvance(name) + 2 * kSpace);
  painter.setFont(theme().smallFont());
  painter.setPen(theme().color(Role::TextThird));
  painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(group.isAnswer ? m_strip->answerFacts : segment.facts,
                                                    Qt::ElideRight, text.width()));
}

void TokenStripArea::paintLine(QPainter& painter, std::size_t line) const {
  const std::size_t end = m_layout.lineEnd(line);
  // Generated tokens appear gradually.
  const std::size_t there = m_motion == nullptr || exporting() || m_motion->before.request != m_strip->request
                                ? m_strip->tokens.size()
                                : m_motion->before.tokens.size();
  for (std::size_t i = m_layout.lines[line].first; i < end; ++i) {
    if (i >= there) painter.setOpacity(m_done);
    paintToken(painter, i);
    const int look = m_layout.lines[line].look;
    const QRect& tile = m_layout.tiles[i];
    if (look >= 0) paintLook(painter, m_strip->tokens[i], QRect(tile.left(), look, tile.width(), kLook));
  }
  painter.setOpacity(1);
  painter.setFont(theme().smallFont());
  if (m_strip->showsCache) paintBlocks(painter, line);
  if (m_layout.lines[line].ruler >= 0) paintRuler(painter, line);
  painter.setFont(theme().monoFont());
}

void TokenStripArea::paintBlocks(QPainter& painter, std::size_t line) const {
  const QFontMetrics metrics = painter.fontMetrics();
  const int label = m_layout.lines[line].tile - m_layout.lines[line].top;  // height
  int free = 0;
  for (std::size_t i = m_layout.lines[line].first; i < m_layout.lineEnd(line); ++i) {
    const StripToken& token = m_strip->tokens[i];
    if (!token.opensBlock) continue;
    const QRect& tile = m_layout.tiles[i];
    const int x = std::max(2, tile.left() - 3);
    painter.fillRect(QRect(x, tile.top() - label + 2, 1, label + kStripTile + 3),
                     theme().color(Role::TextThird));
    if (label == 0) continue;
    // A label that would run into the previous one is left out.
    if (x + 3 < free) continue;
    // If the next label comes soon, only the number is written.
    QString text = m_strip->blockSize <= 4 ? QString::number(token.block) : tr("block %1").arg(token.block);
    text = metrics.elidedText(text, Qt::ElideRight, std::max(0, contentSize().width() - x - 8));
    painter.setPen(theme().color(Role::TextThird));
    painter.drawText(QPoint(x + 4, tile.top() - 3), text);
    free = x + 8 + metrics.horizontalAdvance(text);
  }
}

void TokenStripArea::paintRuler(QPainter& painter, std::size_t line) const {
  const QFontMetrics metrics = painter.fontMetrics();
  const StripLine& own = m_layout.lines[line];
  const std::size_t end = m_layout.lineEnd(line);
  const int right = m_layout.tiles[end - 1].right();
  painter.fillRect(
      QRect(m_layout.tiles[own.first].left(), own.ruler, right - m_layout.tiles[own.first].left(), 1),
      theme().color(Role::Outline));
  int free = 0;
  for (std::size_t i = own.first; i < end; ++i) {
    const StripToken& token = m_strip->tokens[i];
    if (token.cropped >= 0) continue;
    const bool isMain = i == own.first || token.opensBlock;
    if (!isMain && token.position % kRulerStep != 0) continue;
    const bool isMoved = token.storedAt >= 0 && token.storedAt != token.position;
    const int x = m_layout.tiles[i].left();
    const QColor ink = isMain && isMoved ? theme().ink(BlockRole::Relocated) : theme().color(Role::TextThird);
    painter.fillRect(QRect(x, own.ruler, 1, 4), ink);
    const QString label = isMain && isMoved ? tr("%1 ← %2").arg(token.position).arg(token.storedAt)
                                            : QString::number(token.position);
    if (x < free) continue;
    painter.setPen(ink);
    painter.drawText(QPoint(x + 3, own.ruler + metrics.ascent()), label);
    free = x + 3 + metrics.horizontalAdvance(label) + 2 * kSpace;
  }
}

void TokenStripArea::paintToken(QPainter& painter, std::size_t index) const {
  const StripToken& token = m_strip->tokens[index];
  const StripSegment& segment = m_strip->segments[token.segment];
  const QRect& tile = m_layout.tiles[index];
  if (token.generated) {
    painter.setPen(theme().segmentInk(segment.hue));
    painter.setBrush(theme().color(Role::Surface));
    painter.drawRect(tile.adjusted(0, 0, -1, -1));
  } else if (segment.isPale) {
    painter.fillRect(tile, theme().color(Role::Canvas));
  } else if (token.part == StripPart::Own) {
    fillWithHue(painter, tile, theme(), theme().segmentTint(segment.hue), segment.hue);
  } else {
    paintStripPart(painter, theme(), token.part, tile);
  }
  painter.setPen(theme().color(token.part == StripPart::Marker ? Role::Surface
                               : token.quiet || segment.isPale ? Role::TextSecond
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
  if (m_strip->showsCache) paintUnderline(painter, index);
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
  } else if (m_strip->showsCache && token.block >= 0 && token.block == current.block) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().color(Role::Accent), 1));
    painter.drawRect(tile.adjusted(0, 0, -1, -1));
  }
}

void TokenStripArea::paintLook(QPainter& painter, const StripToken& token, const QRect& bar) const {
  painter.fillRect(QRect(bar.left(), bar.bottom(), bar.width(), 1), theme().color(Role::Outline));
  if (token.looked <= 0 || m_strip->mostLooked <= 0) return;
  // A value that is not zero must be visible.
  const double share = std::min(1.0, token.looked / m_strip->mostLooked);
  const int height = std::max(1, static_cast<int>(std::lround((bar.height() - 1) * share)));
  const QRect filled(bar.left() + 1, bar.bottom() - height, bar.width() - 2, height);
  const std::size_t segment = token.generated ? m_strip->lookedAt.value_or(token.segment) : token.segment;
  const bool isNeutral = token.generated ? !m_strip->lookedAt : m_strip->segments[segment].isPale;
  if (isNeutral)
    painter.fillRect(filled, theme().color(Role::TextThird));
  else
    fillWithHue(painter, filled, theme(), theme().segmentInk(m_strip->segments[segment].hue),
                m_strip->segments[segment].hue);
}

void TokenStripArea::pressed(const QPoint& place) {
  std::size_t token = m_layout.at(place);
  for (const StripGroup& group : m_layout.groups) {
    if (group.head.contains(place)) token = group.first;
  }
  if (token < m_layout.tiles.size()) Q_EMIT chosen(token);
}

QString TokenStripArea::tipAt(const QPoint& place) const {
  const std::size_t token = m_layout.at(place);
  return token < m_layout.tiles.size() && m_tips ? m_tips(token) : QString();
}

std::size_t TokenStripArea::target(const QKeyEvent& event) const {
  const std::size_t count = m_layout.tiles.size();
  const bool none = m_current >= count;
  const std::size_t line = none ? 0 : m_layout.lineOf(m_current);
  const int lines = std::max(1, static_cast<int>(m_layout.lines.size()));
  const auto page =
      static_cast<std::size_t>(std::max(1, viewport()->height() * lines / std::max(1, m_layout.height) - 1));
  const int x = none ? 0 : m_layout.tiles[m_current].center().x();
  const auto inLine = [&](std::size_t wanted) {
    const std::size_t token = m_layout.nearest(std::min(wanted, m_layout.lines.size() - 1), x);
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
      return none ? 0 : inLine(line + 1);
    case Qt::Key_Up:
      return none ? 0 : inLine(line == 0 ? 0 : line - 1);
    case Qt::Key_PageDown:
      return none ? 0 : inLine(line + page);
    case Qt::Key_PageUp:
      return none ? 0 : inLine(line < page ? 0 : line - page);
    case Qt::Key_Home:
      return byBlock ? 0 : m_layout.lines[line].first;
    case Qt::Key_End:
      return byBlock ? count - 1 : m_layout.lineEnd(line) - 1;
    default:
      return count;
  }
}

void TokenStripArea::keyPressEvent(QKeyEvent* event) {
  const std::size_t count = m_layout.tiles.size();
  std::size_t next = count == 0 ? count : target(*event);
  // A cropped token has no place to select, so keys skip it.
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
constexpr int kTailGap = 2;   // gap before the free slots of a partial block
constexpr int kLeastTile = 12;
constexpr int kHead = 18;    // height of a line with a name
constexpr int kRuler = 13;   // height of the positions
constexpr int kLineGap = 4;  // gap below a line
constexpr int kGroupGap = 4;

bool isPlain(const QString& text) {
  return std::all_of(text.begin(), text.end(),
                     [](QChar c) { return c.unicode() >= 0x20 && c.unicode() < 0x7F; });
}

}  // namespace

std::size_t StripLayout::lineOf(std::size_t token) const {
  const auto after =
      std::upper_bound(lines.begin(), lines.end(), token,
                       [](std::size_t wanted, const StripLine& line) { return wanted < line.first; });
  return after == lines.begin() ? 0 : static_cast<std::size_t>(after - lines.begin()) - 1;
}

std::size_t StripLayout::lineEnd(std::size_t line) const {
  return line + 1 < lines.size() ? lines[line + 1].first : tiles.size();
}

std::size_t StripLayout::at(int y) const {
  const auto line =
      std::find_if(lines.begin(), lines.end(), [y](const StripLine& each) { return each.bottom > y; });
  return line == lines.end() ? tiles.size() : line->first;
}

std::size_t StripLayout::at(const QPoint& place) const {
  const auto after = std::upper_bound(lines.begin(), lines.end(), place.y(),
                                      [](int y, const StripLine& line) { return y < line.top; });
  if (after == lines.begin()) return tiles.size();
  const auto line = static_cast<std::size_t>(after - lines.begin()) - 1;
  if (place.y() < lines[line].tile || place.y() > lines[line].bottom) return tiles.size();
  for (std::size_t i = lines[line].first; i < lineEnd(line); ++i) {
    if (place.x() >= tiles[i].left() - 2 && place.x() <= tiles[i].right() + 2) return i;
  }
  return tiles.size();
}

QRect StripLayout::groupRect(std::size_t first) const {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].first != first) continue;
    const std::size_t end = i + 1 < groups.size() ? groups[i + 1].first : tiles.size();
    QRect place = groups[i].head;
    place.setBottom(lines[lineOf(end - 1)].bottom);
    return place;
  }
  return {};
}

std::size_t StripLayout::nearest(std::size_t line, int x) const {
  std::size_t best = tiles.size();
  int least = 0;
  for (std::size_t i = lines[line].first; i < lineEnd(line); ++i) {
    const int distance = std::abs(tiles[i].center().x() - x);
    if (best == tiles.size() || distance < least) {
      best = i;
      least = distance;
    }
  }
  return best;
}

void paintStripPart(QPainter& painter, const Theme& theme, StripPart part, const QRect& tile) {
  switch (part) {
    case StripPart::Own:
      break;
    case StripPart::Marker:
      painter.fillRect(tile, theme.color(Role::TextSecond));
      break;
    case StripPart::Pad:
      fillPattern(painter, tile, QBrush(theme.color(Role::TextThird), Qt::BDiagPattern));
      break;
    case StripPart::Cropped:
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(theme.color(Role::Outline), 1, Qt::DotLine));
      painter.drawRect(tile.adjusted(0, 0, -1, -1));
      break;
  }
}

QString tailText(std::int32_t tokens, std::int32_t blockSize) {
  return QCoreApplication::translate("tokens", "%1 of %2").arg(tokens).arg(blockSize);
}

StripLayout layOutTokens(const TokenStrip& strip, int width, const QFont& mono, const QFont& small,
                         StripForm form) {
  const bool isLow = form == StripForm::Low;
  const int head = isLow ? 0 : kHead;
  StripLayout layout;
  layout.width = width;
  layout.tiles.reserve(strip.tokens.size());
  layout.tails.reserve(strip.tokens.size());
  const QFontMetrics metrics(mono);
  const QFontMetrics smallMetrics(small);
  const int advance = metrics.horizontalAdvance(QLatin1Char('m'));
  const int right = std::max(width - kStripMargin, kStripMargin + 80);
  int x = kStripMargin;
  int y = isLow ? kSpace : kStripMargin;
  for (std::size_t i = 0; i < strip.tokens.size(); ++i) {
    const StripToken& token = strip.tokens[i];
    const int text = isPlain(token.text) ? advance * static_cast<int>(token.text.size())
                                         : metrics.horizontalAdvance(token.text);
    const int own = std::min(std::max(text + 2 * kPadding, kLeastTile), right - kStripMargin);
    const int tailWidth =
        token.tail > 0 && strip.showsCache
            ? smallMetrics.horizontalAdvance(tailText(token.tail, strip.blockSize)) + 2 * kPadding + kTailGap
            : 0;
    const bool answerStarts = i == strip.prompt;
    const bool groupStarts = i == 0 || answerStarts || token.segment != strip.tokens[i - 1].segment;
    if (!groupStarts) x += token.opensBlock ? kBlockGap : token.joined ? kJoinGap : kWordGap;
    if (groupStarts || x + own + tailWidth > right) {
      x = kStripMargin;
      if (!layout.lines.empty()) y = layout.lines.back().bottom;
      if (groupStarts) {
        if (i > 0 && !isLow) y += kGroupGap;
        layout.groups.push_back(
            {.first = i, .isAnswer = answerStarts, .head = {kStripMargin, y, right - kStripMargin, head}});
        y += head;
      }
      StripLine line{.first = i, .top = y, .tile = y + (strip.showsCache && !isLow ? kLabel : 0)};
      int below = line.tile + kStripTile + (strip.showsCache ? kStripServed : 1);
      if (!isLow && strip.mostLooked > 0 && (token.generated || !strip.showsCache)) {
        line.look = below;
        below += kLook + 1;
      }
      if (strip.showsCache && !isLow) {
        line.ruler = below;
        below += kRuler;
      }
      line.bottom = below + kLineGap;
      layout.lines.push_back(line);
    }
    layout.tiles.emplace_back(x, layout.lines.back().tile, own, kStripTile);
    x += own;
    QRect tail;
    if (tailWidth > 0) {
      tail = QRect(x + kTailGap, layout.lines.back().tile, tailWidth - kTailGap, kStripTile);
      x += tailWidth;
    }
    layout.tails.push_back(tail);
  }
  layout.height = layout.lines.empty() ? 0 : layout.lines.back().bottom + (isLow ? 0 : kStripMargin);
  return layout;
}

}  // namespace spanscope::ui
