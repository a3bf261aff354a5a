// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diagnosis/log_strips_area.h"

#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

// In pixels.
constexpr int kPairMargin = 2 * kSpace;
constexpr int kPromptName = 16;  // height of a name
constexpr int kPromptBar = 16;
constexpr int kRibbonHeight = 26;  // between the two bars
constexpr int kPieceTile = 18;
constexpr int kPieceGap = 2;
constexpr int kPairGap = 10;
constexpr int kMostPieceChars = 40;  // of a tile

const doctor::PromptPieces& noPieces() {
  static const doctor::PromptPieces none;
  return none;
}

QString pieceSection(const doctor::PromptPieces& prompt, std::size_t token) {
  for (std::size_t i = 0; i < prompt.sections.size(); ++i)
    if (token < prompt.sections[i].end) return QString::fromStdString(prompt.names[i]);
  return {};
}

}  // namespace

LogStripsArea::LogStripsArea(QWidget* parent) : PaintedScroll(parent) {
  setAccessibleName(tr("Tokens of both prompts"));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

const doctor::PromptPieces& LogStripsArea::prompt(bool isNow) const {
  if (isEmpty()) return noPieces();
  return isNow ? m_strips.comparison->now : m_strips.comparison->before;
}

QString LogStripsArea::text(bool isNow, std::size_t token) const {
  QString text = QString::fromStdString(prompt(isNow).texts[token]);
  text.replace(QLatin1Char('\n'), QChar(0x23CE)).replace(QLatin1Char('\t'), QChar(0x2192));
  text.replace(QLatin1Char(' '), QChar(0x00B7));
  for (QChar& c : text)
    if (c.category() == QChar::Other_Control) c = QChar(0x2423);
  if (text.size() > kMostPieceChars) text = text.left(kMostPieceChars - 1) + QChar(0x2026);
  return text;
}

int LogStripsArea::widthOf(bool isNow, std::size_t token) const {
  const std::string& text = prompt(isNow).texts[token];
  if (text.empty()) return m_char + kSpace;
  // The font has characters of one width. Texts in other scripts are measured.
  const bool isPlain = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
  if (isPlain) return m_char * std::min(static_cast<int>(text.size()), kMostPieceChars) + kSpace;
  return QFontMetrics(theme().monoFont()).horizontalAdvance(this->text(isNow, token)) + kSpace;
}

LogStripsArea::Line LogStripsArea::lineFrom(bool isNow, std::size_t begin, std::size_t most,
                                            int width) const {
  Line line{.begin = begin, .end = begin};
  int x = kPairMargin;
  while (line.end < most) {
    const int next = x + widthOf(isNow, line.end);
    if (next > width - kPairMargin && line.end > begin) break;
    x = next;
    ++line.end;
  }
  return line;
}

int LogStripsArea::overviewHeight() const {
  return kPairMargin + kPromptName + kPromptBar + kRibbonHeight + kPromptBar + kPromptName + kPairGap;
}

void LogStripsArea::layOut() {
  m_pairs.clear();
  m_height = 0;
  if (isEmpty()) return contentChanged();
  const int width = viewport()->width();
  const std::size_t common = m_strips.comparison->common;
  const std::size_t before = prompt(false).texts.size();
  const std::size_t now = prompt(true).texts.size();
  int top = overviewHeight();
  Line one;
  Line other;
  // Both prompts begin a line at the first difference, so that the lines before it are equal.
  while (one.end < before || other.end < now) {
    one = lineFrom(false, one.end, one.end < common ? common : before, width);
    other = lineFrom(true, other.end, other.end < common ? common : now, width);
    m_pairs.push_back({.before = one, .now = other, .top = top});
    top += 2 * kPieceTile + kPieceGap + kPairGap;
  }
  m_height = top + kPairMargin;
  contentChanged();
}

void LogStripsArea::show(LogStrips strips, const Theme& theme) {
  const bool isOther = strips.comparison != m_strips.comparison;
  m_strips = std::move(strips);
  setTheme(theme);
  m_blocks.setTheme(theme);
  m_char = QFontMetrics(theme.monoFont()).horizontalAdvance(QLatin1Char('0'));
  if (isOther) {
    layOut();
    goToDifference();
  }
  viewport()->update();
}

void LogStripsArea::goToDifference() {
  if (isEmpty()) return;
  const std::size_t common = m_strips.comparison->common;
  int top = 0;
  for (const Pair& pair : m_pairs) {
    if (pair.now.begin > common || (pair.now.begin >= common && pair.before.begin >= common)) break;
    top = pair.top;
  }
  // The line before the difference stays visible. The overview stays visible, too, if both fit.
  const int bottom = top + 2 * (2 * kPieceTile + kPieceGap + kPairGap);
  scrollTo({0, bottom <= viewport()->height() ? 0 : top - kSpace});
}

BlockRole LogStripsArea::roleOf(bool isNow, std::size_t token) const {
  const doctor::PromptComparison& comparison = *m_strips.comparison;
  const auto isRepeated = [&](const doctor::Repeat& repeat) {
    const std::size_t begin = isNow ? repeat.begin : repeat.at;
    return token >= begin && token < begin + repeat.count;
  };
  if (isNow && token < m_strips.cached) return BlockRole::Hit;
  if (!isNow && token < comparison.common) return token < m_strips.cached ? BlockRole::Hit : BlockRole::Free;
  if (token >= comparison.common &&
      std::any_of(comparison.repeats.begin(), comparison.repeats.end(), isRepeated))
    return BlockRole::Relocated;
  return isNow ? BlockRole::Computed : BlockRole::Free;
}

QSize LogStripsArea::contentSize() const {
  return {viewport()->width(), m_height};
}

void LogStripsArea::paintOverview(QPainter& painter) const {
  const doctor::PromptComparison& comparison = *m_strips.comparison;
  const double most =
      static_cast<double>(std::max<std::size_t>({1, prompt(false).texts.size(), prompt(true).texts.size()}));
  const int width = viewport()->width() - 2 * kPairMargin;
  const auto xOf = [&](std::size_t token) {
    return kPairMargin + width * (static_cast<double>(token) / most);
  };
  const int upper = kPairMargin + kPromptName;
  const int lower = upper + kPromptBar + kRibbonHeight;
  painter.setFont(theme().smallFont());
  const QFontMetrics metrics(theme().smallFont());
  const auto write = [&](int top, const QString& text) {
    painter.setPen(theme().color(Role::TextSecond));
    painter.drawText(QRect(kPairMargin, top, width, kPromptName), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(text, Qt::ElideRight, width));
  };
  write(kPairMargin,
        tr("Earlier request: %1 (%2 tokens)").arg(m_strips.beforeName).arg(prompt(false).texts.size()));
  write(lower + kPromptBar,
        tr("Selected request: %1 (%2 tokens)").arg(m_strips.nowName).arg(prompt(true).texts.size()));
  const auto fill = [&](int top, std::size_t begin, std::size_t end, BlockRole role) {
    if (end <= begin) return;
    const QRectF place(xOf(begin), top, std::max(1.0, xOf(end) - xOf(begin)), kPromptBar);
    if (role == BlockRole::Free)
      painter.fillRect(place, theme().color(Role::Canvas));
    else
      m_blocks.fill(painter, place, role, QPointF(kPairMargin, top));
  };
  const std::size_t beforeEnd = prompt(false).texts.size();
  const std::size_t nowEnd = prompt(true).texts.size();
  const std::size_t cached = std::min(m_strips.cached, nowEnd);
  fill(upper, 0, beforeEnd, BlockRole::Free);
  fill(upper, 0, std::min(cached, comparison.common), BlockRole::Hit);
  fill(lower, 0, nowEnd, BlockRole::Computed);
  fill(lower, 0, cached, BlockRole::Hit);
  painter.setRenderHint(QPainter::Antialiasing);
  const auto ribbon = [&](std::size_t at, std::size_t begin, std::size_t count, BlockRole role) {
    QPainterPath path;
    path.moveTo(xOf(at), upper + kPromptBar);
    path.lineTo(xOf(at + count), upper + kPromptBar);
    path.lineTo(xOf(begin + count), lower);
    path.lineTo(xOf(begin), lower);
    path.closeSubpath();
    QColor color = theme().ink(role);
    color.setAlphaF(0.22F);
    painter.fillPath(path, color);
  };
  ribbon(0, 0, comparison.common, BlockRole::Hit);
  for (const doctor::Repeat& repeat : comparison.repeats) {
    fill(upper, repeat.at, repeat.at + repeat.count, BlockRole::Relocated);
    fill(lower, std::max(cached, repeat.begin), repeat.begin + repeat.count, BlockRole::Relocated);
    ribbon(repeat.at, repeat.begin, repeat.count, BlockRole::Relocated);
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setBrush(Qt::NoBrush);
  const auto edges = [&](int top, const doctor::PromptPieces& pieces) {
    painter.setPen(theme().color(Role::Outline));
    painter.drawRect(QRectF(kPairMargin, top, xOf(pieces.texts.size()) - kPairMargin, kPromptBar - 1));
    constexpr double kLeastBlock = 4;
    if (xOf(m_strips.block) - kPairMargin >= kLeastBlock) {
      for (std::size_t edge = m_strips.block; edge < pieces.texts.size(); edge += m_strips.block)
        painter.drawLine(QPointF(xOf(edge), top), QPointF(xOf(edge), top + 4));
    }
    // Longer lines are the borders of sections.
    for (const doctor::SectionTokens& section : pieces.sections)
      painter.drawLine(QPointF(xOf(section.end), top), QPointF(xOf(section.end), top + kPromptBar - 1));
  };
  edges(upper, prompt(false));
  edges(lower, prompt(true));
  if (comparison.common >= nowEnd) return;
  // A triangle marks the first difference.
  const double x = xOf(comparison.common);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme().color(Role::Accent), 1.5));
  painter.drawLine(QPointF(x, upper - 2), QPointF(x, lower + kPromptBar + 2));
  QPainterPath mark;
  mark.moveTo(x, upper - 1);
  mark.lineTo(x - 5, upper - 8);
  mark.lineTo(x + 5, upper - 8);
  painter.fillPath(mark, theme().color(Role::Accent));
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void LogStripsArea::paintLine(QPainter& painter, bool isNow, const Line& line, int top) const {
  int x = kPairMargin;
  const std::size_t common = m_strips.comparison->common;
  for (std::size_t token = line.begin; token < line.end; ++token) {
    const int width = widthOf(isNow, token);
    const QRect tile(x, top, width, kPieceTile);
    const BlockRole role = roleOf(isNow, token);
    if (role == BlockRole::Free)
      painter.fillRect(tile, theme().color(Role::Canvas));
    else
      m_blocks.fill(painter, tile, role, QPointF(kPairMargin, top));
    painter.setPen(theme().color(role == BlockRole::Free ? Role::TextSecond : Role::Text));
    painter.drawText(tile.adjusted(2, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text(isNow, token));
    painter.setPen(theme().color(Role::Surface));
    painter.drawLine(tile.right(), top, tile.right(), top + kPieceTile - 1);
    if (token % std::max<std::size_t>(1, m_strips.block) == 0) {
      painter.fillRect(QRect(tile.left() - 1, top, 2, kPieceTile), theme().color(Role::TextSecond));
    }
    if (token == common) {
      painter.setPen(QPen(theme().color(Role::Accent), 2));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(tile.adjusted(1, 1, -1, -1));
    }
    x += width;
  }
}

void LogStripsArea::paintContent(QPainter& painter, const QRect& visible) {
  if (isEmpty()) return;
  if (visible.top() < overviewHeight()) paintOverview(painter);
  painter.setFont(theme().monoFont());
  const int height = 2 * kPieceTile + kPieceGap;
  for (const Pair& pair : m_pairs) {
    if (pair.top + height < visible.top()) continue;
    if (pair.top > visible.bottom()) break;
    paintLine(painter, false, pair.before, pair.top);
    paintLine(painter, true, pair.now, pair.top + kPieceTile + kPieceGap);
  }
}

bool LogStripsArea::hitAt(const QPoint& place, Hit& hit) const {
  for (const Pair& pair : m_pairs) {
    for (const bool isNow : {false, true}) {
      const int top = pair.top + (isNow ? kPieceTile + kPieceGap : 0);
      if (place.y() < top || place.y() >= top + kPieceTile) continue;
      const Line& line = isNow ? pair.now : pair.before;
      int x = kPairMargin;
      for (std::size_t token = line.begin; token < line.end; ++token) {
        x += widthOf(isNow, token);
        if (place.x() >= x) continue;
        hit = {.isNow = isNow, .token = token};
        return place.x() >= kPairMargin;
      }
    }
  }
  return false;
}

void LogStripsArea::pressed(const QPoint& /*place*/) {
  setFocus(Qt::MouseFocusReason);
}

QString LogStripsArea::tipAt(const QPoint& place) const {
  Hit hit;
  if (isEmpty() || !hitAt(place, hit)) return {};
  const doctor::PromptComparison& comparison = *m_strips.comparison;
  QStringList lines{
      tr("Token %1, block %2").arg(hit.token).arg(hit.token / std::max<std::size_t>(1, m_strips.block)),
      pieceSection(prompt(hit.isNow), hit.token)};
  if (hit.token == comparison.common) lines << tr("The first token that differs");
  const BlockRole role = roleOf(hit.isNow, hit.token);
  if (role == BlockRole::Hit)
    lines << (hit.token < comparison.common ? tr("Common prefix of both prompts, reused")
                                            : tr("Reused from another earlier request"));
  if (hit.token < comparison.common && role != BlockRole::Hit)
    lines << tr("Common prefix of both prompts, but not in a reused block");
  if (role == BlockRole::Relocated) {
    for (const doctor::Repeat& repeat : comparison.repeats) {
      const std::size_t begin = hit.isNow ? repeat.begin : repeat.at;
      if (hit.token < begin || hit.token >= begin + repeat.count) continue;
      const std::size_t other = (hit.isNow ? repeat.at : repeat.begin) + hit.token - begin;
      lines << (hit.isNow ? tr("The same as token %1 of the earlier prompt. With spans, a server can reuse "
                               "the token here")
                                .arg(other)
                          : tr("The same as token %1 of the selected prompt").arg(other));
      break;
    }
  }
  return lines.join(QLatin1Char('\n'));
}

void LogStripsArea::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_D && event->modifiers() == Qt::NoModifier) return goToDifference();
  if (event->key() == Qt::Key_Home) return scrollTo({0, 0});
  if (event->key() == Qt::Key_End) return scrollTo({0, m_height});
  PaintedScroll::keyPressEvent(event);
}

void LogStripsArea::resizeEvent(QResizeEvent* event) {
  PaintedScroll::resizeEvent(event);
  layOut();
  // Another width makes other lines, so that the old offset means nothing.
  if (event->oldSize().width() != event->size().width()) goToDifference();
}

}  // namespace spanscope::ui
