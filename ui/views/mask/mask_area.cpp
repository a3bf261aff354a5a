// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/mask/mask_area.h"

#include "ui/theme/pattern_painting.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/common/text_painting.h"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <array>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr std::array<int, 6> kPitches{1, 2, 4, 8, 14, 20};
constexpr int kMostPitch = 24;
/// Max ratio of the longer to the shorter side of a cell that fills its view.
constexpr double kMostStretch = 1.5;
constexpr int kStripe = 4;
constexpr int kLane = 8;  ///< width of the column of states
constexpr int kHead = 24;
constexpr int kHeadWithTexts = 92;
constexpr int kMargin = 2 * kSpace;

}  // namespace

QBrush unseenBrush(const Theme& theme) {
  return QBrush(theme.color(Role::Outline), Qt::BDiagPattern);
}

QBrush reusedBrush(const Theme& theme) {
  return QBrush(theme.color(Role::Surface), Qt::FDiagPattern);
}

MaskArea::MaskArea(QWidget* parent) : ZoomedScroll(parent) {
  setAccessibleName(tr("Mask of the prompt"));
}

void MaskArea::showMask(const MaskModel* model, bool changed, MaskShown shown, std::optional<MaskRange> rows,
                        const Theme& theme) {
  const bool isFirst = m_model == nullptr;
  m_model = model;
  m_shown = shown;
  m_rows = rows;
  setTheme(theme);
  m_painter.setTheme(theme);
  if (changed || isFirst) layOut();
  viewport()->update();
}

void MaskArea::showColumns(std::optional<MaskRange> columns) {
  if (columns == m_columns) return;
  m_columns = columns;
  viewport()->update();
}

int MaskArea::namesWidth(bool withTexts) const {
  constexpr int kMost = 110;
  const QFontMetrics names(theme().smallFont());
  int widest = 0;
  for (const MaskPart& part : m_model->parts) widest = std::max(widest, names.horizontalAdvance(part.name));
  return withTexts ? kMost + 24 : std::clamp(widest + kSpace, 24, kMost);
}

MaskLayout MaskArea::fitting(const QSize& size) const {
  MaskLayout layout;
  const int tokens = std::max(1, m_model->tokens);
  layout.left = namesWidth(false) + kStripe + kLane + 3 * kSpace;
  layout.top = kHead;
  const double across = std::max(20.0, double(size.width() - layout.left - kMargin)) / tokens;
  const double down = std::max(20.0, double(size.height() - layout.top - kMargin)) / tokens;
  layout.across = std::min({across, kMostStretch * down, double(kMostPitch)});
  layout.down = std::min({down, kMostStretch * across, double(kMostPitch)});
  if (layout.hasTexts()) {
    layout.left = namesWidth(true) + kStripe + kLane + 3 * kSpace;
    layout.top = kHeadWithTexts;
    layout.across = std::max(1.0, double(size.width() - layout.left - kMargin) / tokens);
    layout.down = std::max(1.0, double(size.height() - layout.top - kMargin) / tokens);
    layout.across = std::min({layout.across, kMostStretch * layout.down, double(kMostPitch)});
    layout.down = std::min({layout.down, kMostStretch * layout.across, double(kMostPitch)});
    if (!layout.hasTexts()) {
      layout.left = namesWidth(false) + kStripe + kLane + 3 * kSpace;
      layout.top = kHead;
    }
  }
  return layout;
}

void MaskArea::layOut() {
  if (m_model == nullptr) return;
  m_layout = fitting(viewport()->size());
  if (m_pitch && *m_pitch > std::max(m_layout.across, m_layout.down)) {
    m_layout.across = m_layout.down = *m_pitch;
    m_layout.left = namesWidth(m_layout.hasTexts()) + kStripe + kLane + 3 * kSpace;
    m_layout.top = m_layout.hasTexts() ? kHeadWithTexts : kHead;
  }
  contentChanged();
}

QSize MaskArea::contentSize() const {
  if (m_model == nullptr || m_model->tokens == 0) return viewport()->size();
  return {static_cast<int>(std::ceil(m_layout.x(m_model->tokens))) + kMargin,
          static_cast<int>(std::ceil(m_layout.y(m_model->tokens))) + kMargin};
}

void MaskArea::resizeEvent(QResizeEvent* event) {
  layOut();
  ZoomedScroll::resizeEvent(event);
}

void MaskArea::zoom(int steps) {
  if (m_model == nullptr) return;
  // The middle of the view, or the selection, stays visible.
  const std::optional<MaskRange> kept = m_rows;
  for (; steps > 0; --steps) {
    const double now = m_pitch ? *m_pitch : std::max(m_layout.across, m_layout.down);
    const auto larger =
        std::find_if(kPitches.begin(), kPitches.end(), [now](int pitch) { return pitch > now + 0.5; });
    if (larger != kPitches.end()) m_pitch = *larger;
    layOut();
  }
  for (; steps < 0; ++steps) {
    if (!m_pitch) break;
    const auto smaller = std::lower_bound(kPitches.begin(), kPitches.end(), *m_pitch);
    const MaskLayout fit = fitting(viewport()->size());
    const bool isFit = smaller == kPitches.begin() || *std::prev(smaller) <= std::max(fit.across, fit.down);
    m_pitch = isFit ? std::nullopt : std::optional(*std::prev(smaller));
    layOut();
  }
  if (kept) reveal(*kept);
}

void MaskArea::zoomToFit() {
  m_pitch.reset();
  layOut();
}

MaskRange MaskArea::stretchAt(std::int32_t token) const {
  return m_layout.isByBlock() ? m_model->blockOf(token) : MaskRange{token, token + 1};
}

void MaskArea::reveal(const MaskRange& rows) {
  keepVisible([this, rows] { scrollToRows(rows); });
}

void MaskArea::scrollToRows(const MaskRange& rows) {
  if (m_model == nullptr || rows.end > m_model->tokens) return;
  const MaskRange columns = m_columns.value_or(MaskRange{rows.end - 1, rows.end});
  QRectF place(m_layout.x(columns.begin), m_layout.y(rows.begin), m_layout.across * columns.count(),
               m_layout.down * rows.count());
  // Names cover cells at the left and the top, so the place is larger by their size.
  place.adjust(-m_layout.left, -m_layout.top, 0, 0);
  makeVisible(place.toAlignedRect());
}

std::optional<std::int32_t> MaskArea::rowAt(int y) const {
  if (m_model == nullptr || y < m_layout.top) return std::nullopt;
  const auto row = static_cast<std::int32_t>((y - m_layout.top) / m_layout.down);
  return row < m_model->tokens ? std::optional(row) : std::nullopt;
}

std::optional<std::int32_t> MaskArea::columnAt(int x) const {
  if (m_model == nullptr || x < m_layout.left) return std::nullopt;
  const auto column = static_cast<std::int32_t>((x - m_layout.left) / m_layout.across);
  return column < m_model->tokens ? std::optional(column) : std::nullopt;
}

void MaskArea::pressed(const QPoint& place) {
  const QPoint seen = place - offset();
  // Names cover the scrolled cells.
  const bool inNames = seen.x() < m_layout.left;
  const bool inHead = seen.y() < m_layout.top;
  const std::optional<std::int32_t> row = inHead ? std::nullopt : rowAt(place.y());
  const std::optional<std::int32_t> column = inNames ? std::nullopt : columnAt(place.x());
  if (column) Q_EMIT columnsChosen(stretchAt(*column));
  if (row) Q_EMIT rowsChosen(stretchAt(*row));
}

QString MaskArea::nameAt(std::optional<std::int32_t> token) const {
  if (!token) return {};
  const auto part =
      std::ranges::find_if(m_model->parts, [&](const MaskPart& each) { return each.range.holds(*token); });
  return part == m_model->parts.end() ? QString() : part->name;
}

QString MaskArea::tipAt(const QPoint& place) const {
  const QPoint seen = place - offset();
  const std::optional<std::int32_t> row = rowAt(place.y());
  const std::optional<std::int32_t> column = columnAt(place.x());
  // The names cover cells that have scrolled below them. A name may be short or missing.
  if (seen.x() < m_layout.left || seen.y() < m_layout.top) {
    if (seen.x() < m_layout.left && seen.y() < m_layout.top) return {};
    return nameAt(seen.y() < m_layout.top ? column : row);
  }
  return row && column && m_tips ? m_tips(stretchAt(*row), stretchAt(*column)) : QString();
}

void MaskArea::keyPressEvent(QKeyEvent* event) {
  if (m_model == nullptr || m_model->tokens == 0) {
    ZoomedScroll::keyPressEvent(event);
    return;
  }
  const std::int32_t last = m_model->tokens - 1;
  const MaskRange rows = m_rows.value_or(MaskRange{last, last + 1});
  const MaskRange columns = m_columns.value_or(MaskRange{rows.end - 1, rows.end});
  const auto next = [&](const MaskRange& from) { return stretchAt(std::min(from.end, last)); };
  const auto before = [&](const MaskRange& from) { return stretchAt(std::max(from.begin - 1, 0)); };
  // The first token of the section before or after.
  const auto byPart = [&](bool forwards) {
    std::int32_t to = forwards ? last : 0;
    for (const MaskPart& part : m_model->parts) {
      if (forwards && part.range.begin > rows.begin) return stretchAt(part.range.begin);
      if (!forwards && part.range.begin < rows.begin) to = part.range.begin;
    }
    return stretchAt(to);
  };
  switch (event->key()) {
    case Qt::Key_Down:
      Q_EMIT rowsChosen(m_rows ? next(rows) : stretchAt(last));
      break;
    case Qt::Key_Up:
      Q_EMIT rowsChosen(m_rows ? before(rows) : stretchAt(last));
      break;
    case Qt::Key_PageDown:
      Q_EMIT rowsChosen(byPart(true));
      break;
    case Qt::Key_PageUp:
      Q_EMIT rowsChosen(byPart(false));
      break;
    case Qt::Key_Right:
      Q_EMIT columnsChosen(next(columns));
      break;
    case Qt::Key_Left:
      Q_EMIT columnsChosen(before(columns));
      break;
    case Qt::Key_Home:
      Q_EMIT columnsChosen(stretchAt(0));
      break;
    case Qt::Key_End:
      Q_EMIT columnsChosen(stretchAt(rows.end - 1));
      break;
    default:
      ZoomedScroll::keyPressEvent(event);
      return;
  }
  if (m_rows) reveal(*m_rows);
}

MaskRange MaskArea::between(double begin, double end, double first, double pitch) const {
  const auto clamped = [this](double at) {
    return static_cast<std::int32_t>(std::clamp(at, 0.0, double(m_model->tokens)));
  };
  return {clamped(std::floor((begin - first) / pitch)), clamped(std::ceil((end - first) / pitch))};
}

/// Paints the cells of a band in these rows and columns, on or below the diagonal. `isInked`: in the inks of
/// sections, like a selection; else in their tints.
void MaskArea::paintSeen(QPainter& painter, const MaskBand& band, const MaskRange& rows,
                         const MaskRange& columns, bool isInked) const {
  const bool isReused = !isInked && m_shown == MaskShown::ThisRun &&
                        (band.state == BlockRole::Hit || band.state == BlockRole::Relocated);
  for (const MaskPart& part : m_model->parts) {
    const std::int32_t begin = std::max(part.range.begin, columns.begin);
    const std::int32_t end = std::min({part.range.end, columns.end, rows.end});
    if (begin >= end) continue;
    const auto fill = [&](const QPainterPath& path) {
      painter.fillPath(path, isInked ? theme().segmentInk(part.hue) : theme().segmentTint(part.hue));
      if (part.hue >= kSegmentHues) fillPattern(painter, path, theme().segmentPattern(part.hue));
      if (isReused) fillPattern(painter, path, reusedBrush(theme()));
    };
    QPainterPath path;
    const std::int32_t steps =
        std::clamp(end, rows.begin, rows.end);  // from this row on, rows attend to the whole range
    if (steps < rows.end)
      path.addRect(QRectF(m_layout.x(begin), m_layout.y(steps), m_layout.across * (end - begin),
                          m_layout.down * (rows.end - steps)));
    const std::int32_t first = std::max(rows.begin, begin);
    if (first < steps) {
      QPainterPath stairs;
      stairs.moveTo(m_layout.x(begin), m_layout.y(first));
      if (m_layout.isByBlock()) {
        stairs.lineTo(m_layout.x(first), m_layout.y(first));
        stairs.lineTo(m_layout.x(steps), m_layout.y(steps));
      } else {
        for (std::int32_t row = first; row < steps; ++row) {
          stairs.lineTo(m_layout.x(row + 1), m_layout.y(row));
          stairs.lineTo(m_layout.x(row + 1), m_layout.y(row + 1));
        }
      }
      stairs.lineTo(m_layout.x(begin), m_layout.y(steps));
      stairs.closeSubpath();
      path.addPath(stairs);
    }
    if (!path.isEmpty()) fill(path);
  }
}

void MaskArea::paintUnseen(QPainter& painter, const MaskBand& band, const MaskRange& columns) const {
  std::int32_t from = 0;
  const auto fill = [&](std::int32_t begin, std::int32_t end) {
    begin = std::max(begin, columns.begin);
    end = std::min(end, columns.end);
    if (begin >= end) return;
    const QRectF place(m_layout.x(begin), m_layout.y(band.rows.begin), m_layout.across * (end - begin),
                       m_layout.down * band.rows.count());
    if (m_shown == MaskShown::ThisRun) {
      fillPattern(painter, place, unseenBrush(theme()));
    } else {
      m_painter.fill(painter, place, BlockRole::Computed, QPointF(0, 0));
    }
  };
  for (const MaskRange& seen : band.sees) {
    fill(from, seen.begin);
    from = seen.end;
  }
  fill(from, band.ownBegin);
}

void MaskArea::paintBand(QPainter& painter, const MaskBand& band, const MaskRange& columns) const {
  if (band.state == BlockRole::Free) return;
  paintBefore(painter, band, columns);
  paintSeen(painter, band, band.rows,
            {std::max(band.ownBegin, columns.begin), std::min(band.rows.end, columns.end)});
}

/// The cells before the band's own segment.
void MaskArea::paintBefore(QPainter& painter, const MaskBand& band, const MaskRange& columns) const {
  paintUnseen(painter, band, columns);
  for (const MaskRange& seen : band.sees)
    paintSeen(painter, band, band.rows,
              {std::max(seen.begin, columns.begin), std::min(seen.end, columns.end)});
}

/// Bands that are lower than a pixel would hide each other. So the opacity of a block's cells is the share of
/// its rows that attend.
void MaskArea::paintMixed(QPainter& painter, const MaskRange& block, const MaskRange& columns) const {
  std::vector<MaskBand> kinds;
  std::int32_t there = 0;
  const auto below =
      std::lower_bound(m_model->bands.begin(), m_model->bands.end(), block.begin,
                       [](const MaskBand& above, std::int32_t row) { return above.rows.end <= row; });
  for (auto at = below; at != m_model->bands.end() && at->rows.begin < block.end; ++at) {
    const MaskBand& band = *at;
    const MaskRange rows{std::max(band.rows.begin, block.begin), std::min(band.rows.end, block.end)};
    if (rows.count() <= 0 || band.state == BlockRole::Free) continue;
    there += rows.count();
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&band](const MaskBand& kind) {
      return kind.sees == band.sees && kind.state == band.state;
    });
    if (same == kinds.end()) {
      kinds.push_back(band);
      kinds.back().rows = {0, rows.count()};
    } else {
      same->rows.end += rows.count();
    }
  }
  for (MaskBand& kind : kinds) {
    const double share = double(kind.rows.count()) / block.count();
    kind.rows = block;
    painter.setOpacity(share);
    paintBefore(painter, kind, columns);
  }
  painter.setOpacity(1);
  if (there == 0) return;
  const MaskBand* own = m_model->bandAt(block.begin);
  paintSeen(painter, *own, block, {std::max(own->ownBegin, columns.begin), std::min(block.end, columns.end)});
}

void MaskArea::paintGrid(QPainter& painter, const MaskRange& rows, const MaskRange& columns) const {
  constexpr double kLeastBlock = 7;
  const auto rule = [&](std::int32_t at, const QColor& color, double width) {
    painter.setPen(QPen(color, width));
    // Rows attend to a column from its own row on. A row attends up to its own column.
    if (at >= columns.begin && at <= columns.end)
      painter.drawLine(QPointF(m_layout.x(at), std::max(m_layout.y(at), m_layout.y(rows.begin))),
                       QPointF(m_layout.x(at), m_layout.y(m_model->tokens)));
    if (at >= rows.begin && at <= rows.end)
      painter.drawLine(QPointF(m_layout.x(0), m_layout.y(at)), QPointF(m_layout.x(at), m_layout.y(at)));
  };
  if (!m_layout.isByBlock() && m_layout.down >= 6) {
    for (std::int32_t at = std::min(rows.begin, columns.begin); at <= std::max(rows.end, columns.end); ++at)
      rule(at, theme().color(Role::Surface), 1);
  }
  if (std::min(m_layout.across, m_layout.down) * m_model->blockSize >= kLeastBlock) {
    const QColor line = theme().color(m_layout.isByBlock() ? Role::Line : Role::Outline);
    for (const std::int32_t edge : m_model->edges) rule(edge, line, 1);
  }
  const QColor edge = theme().color(m_layout.isByBlock() ? Role::Outline : Role::TextThird);
  for (const MaskPart& part : m_model->parts) rule(part.range.begin, edge, 1);
  rule(m_model->tokens, edge, 1);
}

void MaskArea::paintMarks(QPainter& painter) const {
  if (!m_rows) return;
  const QRectF row(m_layout.x(0), m_layout.y(m_rows->begin), m_layout.across * m_rows->end,
                   std::max(2.0, m_layout.down * m_rows->count()));
  for (const MaskBand& band : m_model->bands) {
    const MaskRange rows{std::max(band.rows.begin, m_rows->begin), std::min(band.rows.end, m_rows->end)};
    if (rows.count() <= 0 || band.state == BlockRole::Free) continue;
    if (m_shown == MaskShown::FullPrefill) {
      paintSeen(painter, band, rows, {0, rows.end}, true);
      continue;
    }
    for (const MaskRange& seen : band.sees) paintSeen(painter, band, rows, seen, true);
    paintSeen(painter, band, rows, {band.ownBegin, rows.end}, true);
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme().color(Role::Accent), 2));
  painter.drawRect(row.adjusted(-1, -1, 1, 1));
  if (!m_columns) return;
  const QRectF column(m_layout.x(m_columns->begin), m_layout.y(0),
                      std::max(2.0, m_layout.across * m_columns->count()), m_layout.down * m_model->tokens);
  painter.setPen(QPen(theme().color(Role::Accent), 1, Qt::DashLine));
  painter.drawRect(column);
  m_painter.ring(painter,
                 QRectF(column.left(), row.top(), column.width(), row.height()).adjusted(-1, -1, 1, 1));
}

/// `seen`: the visible part, in content coordinates. The names are at its top and left.
void MaskArea::paintNames(QPainter& painter, const QRect& seen) const {
  const QFontMetrics metrics(theme().smallFont());
  const double left = seen.left() + m_layout.left;
  const double top = seen.top() + m_layout.top;
  painter.fillRect(QRectF(seen.left(), seen.top(), seen.width(), m_layout.top), theme().color(Role::Surface));
  painter.fillRect(QRectF(seen.left(), seen.top(), m_layout.left, seen.height()),
                   theme().color(Role::Surface));
  painter.setFont(theme().smallFont());

  const bool withTexts = m_layout.hasTexts();
  std::vector<NamedBracket> columns;
  std::vector<QColor> inks;
  const double stripe = left - kLane - kStripe - 2 * kSpace + 2;
  std::vector<NameRoom> rowRooms;
  for (const MaskPart& part : m_model->parts) {
    if (!withTexts) rowRooms.push_back({part.name, stripe - seen.left() - 2 * kSpace});
  }
  const std::vector<QString> rowNames = shortNames(rowRooms, metrics);
  double lastBottom = top - 2;
  for (std::size_t i = 0; i < m_model->parts.size(); ++i) {
    const MaskPart& part = m_model->parts[i];
    const QColor ink = theme().segmentInk(part.hue);
    const double from = std::max(left, m_layout.x(part.range.begin));
    const double to = std::min(double(seen.right() + 1), m_layout.x(part.range.end));
    if (from < to) {
      fillWithHue(painter, QRectF(from, top - kStripe - 2, to - from - 0.5, kStripe), theme(), ink, part.hue);
      const bool isCut = from > m_layout.x(part.range.begin) || to < m_layout.x(part.range.end);
      columns.push_back(
          {.place = QRectF(from, seen.top() + 2, to - from, 14).toRect(), .name = part.name, .isCut = isCut});
      inks.push_back(ink);
    }
    const double above = std::max(top, m_layout.y(part.range.begin));
    const double below = std::min(double(seen.bottom() + 1), m_layout.y(part.range.end));
    if (above >= below) continue;
    fillWithHue(painter, QRectF(stripe, above, kStripe, below - above - 0.5), theme(), ink, part.hue);
    if (withTexts) continue;
    // A name is in the middle of its rows, unless another name is there.
    const double middle = (above + below) / 2;
    const double height = metrics.height() - 2;
    if (middle - height / 2 < lastBottom || middle + height / 2 > seen.bottom() + 4) continue;
    lastBottom = middle + height / 2;
    painter.setPen(ink);
    painter.drawText(
        QRectF(seen.left() + kSpace, middle - height / 2, stripe - seen.left() - 2 * kSpace, height),
        Qt::AlignRight | Qt::AlignVCenter, rowNames[i]);
  }
  const std::vector<BracketName> names =
      bracketNames(columns, static_cast<int>(left), seen.right() + 1, metrics);
  for (std::size_t i = 0; i < names.size(); ++i) {
    painter.setPen(inks[i]);
    painter.drawText(QRect(names[i].left, columns[i].place.top(),
                           metrics.horizontalAdvance(names[i].text) + 1, columns[i].place.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, names[i].text);
  }
  for (const MaskBand& band : m_model->bands) {
    const double above = std::max(top, m_layout.y(band.rows.begin));
    const double below = std::min(double(seen.bottom() + 1), m_layout.y(band.rows.end));
    if (above >= below) continue;
    const QRectF lane(left - kLane - kSpace, above, kLane, below - above);
    const BlockRole state =
        m_shown == MaskShown::FullPrefill && band.state != BlockRole::Free ? BlockRole::Computed : band.state;
    if (state != BlockRole::Free) {
      m_painter.fill(painter, lane, state, QPointF(0, 0));
      painter.fillRect(QRectF(lane.left(), above, 2, below - above), theme().ink(state));
    }
  }
}

void MaskArea::paintTexts(QPainter& painter, const QRect& seen, const MaskRange& rows,
                          const MaskRange& columns) const {
  const QFontMetrics metrics(theme().monoFont());
  painter.setFont(theme().monoFont());
  const double left = seen.left() + m_layout.left;
  const double top = seen.top() + m_layout.top;
  const int width = m_layout.left - kLane - kStripe - 4 * kSpace;
  for (std::int32_t row = rows.begin; row < rows.end; ++row) {
    const double y = m_layout.y(row);
    if (y + m_layout.down / 2 < top) continue;
    const MaskPart* part = m_model->partAt(row);
    painter.setPen(part == nullptr ? theme().color(Role::Text) : theme().segmentInk(part->hue));
    painter.drawText(
        QRectF(seen.left() + kSpace, y, width, m_layout.down), Qt::AlignRight | Qt::AlignVCenter,
        metrics.elidedText(m_model->texts[static_cast<std::size_t>(row)], Qt::ElideRight, width));
  }
  const int height = m_layout.top - 18 - kStripe - 4;
  for (std::int32_t column = columns.begin; column < columns.end; ++column) {
    const double x = m_layout.x(column);
    if (x + m_layout.across / 2 < left) continue;
    const MaskPart* part = m_model->partAt(column);
    painter.setPen(part == nullptr ? theme().color(Role::Text) : theme().segmentInk(part->hue));
    painter.save();
    painter.translate(x, top - kStripe - 4);
    painter.rotate(-90);
    painter.drawText(
        QRectF(0, 0, height, m_layout.across), Qt::AlignLeft | Qt::AlignVCenter,
        metrics.elidedText(m_model->texts[static_cast<std::size_t>(column)], Qt::ElideRight, height));
    painter.restore();
  }
}

/// Paints each row once. Each step ends after the row where it begins, so that the loop ends for every mask.
void MaskArea::paintBands(QPainter& painter, const MaskRange& rows, const MaskRange& columns) const {
  std::int32_t at = 0;  // rows before it are painted
  for (const MaskBand& band : m_model->bands) {
    const bool isFine = m_layout.isByBlock() && m_layout.down * band.rows.count() < 2;
    at = std::max(at, band.rows.begin);
    while (at < band.rows.end) {
      const MaskRange block = isFine ? m_model->blockOf(at) : band.rows;
      const MaskRange last = isFine ? m_model->blockOf(band.rows.end - 1) : band.rows;
      // A block within this band needs no mixing.
      const bool isMixed = block.begin < band.rows.begin || block.end > band.rows.end;
      MaskRange part{at, block.end};
      if (!isMixed) part.end = last.end <= band.rows.end ? band.rows.end : last.begin;
      at = part.end;
      if (part.end <= rows.begin || part.begin >= rows.end) continue;
      if (isMixed) {
        paintMixed(painter, part, columns);
        continue;
      }
      MaskBand inSight = band;
      inSight.rows = {std::max(part.begin, rows.begin), std::min(part.end, rows.end)};
      paintBand(painter, inSight, columns);
    }
  }
}

void MaskArea::paintContent(QPainter& painter, const QRect& visible) {
  if (m_model == nullptr || m_model->tokens == 0) return;
  const QRect seen = exporting() ? visible : visibleContent();
  const MaskRange rows = between(seen.top() + m_layout.top, seen.bottom() + 1, m_layout.top, m_layout.down);
  const MaskRange columns =
      between(seen.left() + m_layout.left, seen.right() + 1, m_layout.left, m_layout.across);
  painter.save();
  painter.setClipRect(
      QRectF(seen.left() + m_layout.left - 1, seen.top() + m_layout.top - 1, seen.width(), seen.height()),
      Qt::IntersectClip);
  painter.setRenderHint(QPainter::Antialiasing, m_layout.isByBlock());
  paintBands(painter, rows, columns);
  painter.setRenderHint(QPainter::Antialiasing, false);
  paintGrid(painter, rows, columns);
  painter.setRenderHint(QPainter::Antialiasing, true);
  paintMarks(painter);
  painter.restore();
  painter.save();
  paintNames(painter, seen);
  if (m_layout.hasTexts()) paintTexts(painter, seen, rows, columns);
  painter.restore();
}

void MaskArea::paintFitted(QPainter& painter, const QRect& area) {
  if (m_model == nullptr) return;
  const MaskLayout before = m_layout;
  m_layout = fitting(area.size());
  painter.save();
  painter.translate(area.topLeft());
  paintWhole(painter, contentSize().boundedTo(area.size()));
  painter.restore();
  m_layout = before;
}

}  // namespace spanscope::ui
