// SPDX-License-Identifier: GPL-3.0-or-later
// The part of BlockTableArea that paints.
#include "ui/views/block_table/block_table_area.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/common/text_painting.h"
#include "ui/words/metric_words.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

namespace spanscope::ui {
namespace {

/// From a cell to its number below, in pixels. A frame around the cell covers no number.
constexpr int kNumberGap = 4;

BlockLook lookOf(const TableCell& cell, std::int32_t blockSize) {
  BlockLook look;
  look.role = cell.role;
  look.shared = cell.references >= 2;
  look.share = double(cell.facts.tokens) / blockSize;
  look.loaded = cell.facts.load != 0 && cell.isThere();
  if (cell.isPartialHit()) {
    const std::int32_t kept = std::max(0, cell.facts.found - cell.again);
    look.split = double(kept) / std::max(1, cell.facts.tokens);
    look.found = cell.facts.foundRole;
  }
  return look;
}

}  // namespace

void BlockTableArea::paintContent(QPainter& painter, const QRect& visible) {
  if (m_table == nullptr || m_table->rows.empty()) {
    paintEmptyText(
        painter, visible,
        tr("A row appears here for each request of a run. The row shows which block of the pool serves "
           "each block of the prompt."),
        theme());
    return;
  }
  const auto rows = m_layout.rowsBetween(visible.top(), visible.bottom());
  paintLinks(painter, rows, visible);
  for (std::size_t row = rows.first; row < rows.second; ++row) {
    paintBrackets(painter, row, visible);
    paintCells(painter, row, visible);
  }
  paintRings(painter, rows, visible);
  if (m_motion != nullptr && !exporting()) paintTravels(painter, visible);
  if (visible.left() < kTableLabel) paintLabels(painter, 0, rows);
}

void BlockTableArea::paintFixed(QPainter& painter) {
  if (m_table == nullptr || m_table->rows.empty()) return;
  const QRect visible = visibleContent();
  if (offset().x() > 0) {
    painter.save();
    painter.translate(0, -offset().y());
    painter.fillRect(QRect(0, visible.top(), kTableLabel - kSpace, visible.height()),
                     theme().color(Role::Surface));
    paintLabels(painter, 0, m_layout.rowsBetween(visible.top(), visible.bottom()));
    painter.restore();
  }
  if (!m_overviewShown) return;
  painter.fillRect(QRect(0, 0, seenSize().width(), kTableOverview), theme().color(Role::Surface));
  painter.fillRect(QRect(0, kTableOverview - 1, seenSize().width(), 1), theme().color(Role::Line));
  const QRect bar = overviewBar();
  painter.setFont(theme().smallFont());
  painter.setPen(theme().color(Role::TextThird));
  const QFontMetrics metrics(theme().smallFont());
  painter.drawText(
      QRect(3 * kSpace, 0, kTableLabel - 4 * kSpace, kTableOverview), Qt::AlignVCenter | Qt::AlignLeft,
      metrics.elidedText(m_table->rows[overviewRow()].title, Qt::ElideRight, kTableLabel - 4 * kSpace));
  painter.drawImage(bar, overviewImage());
  const double content = std::max(1, m_layout.contentSize().width() - kTableLabel);
  const double left = bar.left() + bar.width() * (offset().x() / content);
  const double width = bar.width() * ((seenSize().width() - kTableLabel) / content);
  painter.setPen(QPen(theme().color(Role::Accent), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(left, bar.top() - 3, std::max(6.0, width), bar.height() + 6));
}

std::size_t BlockTableArea::overviewRow() const {
  const std::size_t last = m_table->rows.size() - 1;
  return std::min(m_current ? m_current->row : m_ownRow.value_or(last), last);
}

const QImage& BlockTableArea::overviewImage() {
  const QRect bar = overviewBar();
  if (m_overview.width() == bar.width()) return m_overview;
  m_overview = QImage(bar.width(), bar.height(), QImage::Format_ARGB32_Premultiplied);
  m_overview.fill(theme().color(Role::Canvas));
  const TableRow& row = m_table->rows[overviewRow()];
  QPainter painter(&m_overview);
  // If several blocks share a column of pixels, each state gets its share of the height.
  const int content = std::max(1, m_layout.contentSize().width() - kTableLabel);
  for (int x = 0; x < bar.width(); ++x) {
    const int left = kTableLabel + static_cast<int>(std::int64_t{content} * x / bar.width());
    const int right = kTableLabel + static_cast<int>(std::int64_t{content} * (x + 1) / bar.width());
    const std::optional<CellPlace> last = m_layout.nearest(overviewRow(), right);
    // The column lies between two segments, or past the row.
    if (!last || m_layout.cell(*last).right() < left) continue;
    const auto [begin, end] = m_layout.between(overviewRow(), left, right);
    std::array<int, 5> counts{};
    for (std::size_t i = begin; i < end; ++i) ++counts[static_cast<std::size_t>(row.cells[i].role)];
    double y = 0;
    for (std::size_t role = 0; role < counts.size(); ++role) {
      const double height =
          double(bar.height()) * counts[role] / double(std::max<std::size_t>(1, end - begin));
      painter.fillRect(QRectF(x, y, 1, height), theme().ink(static_cast<BlockRole>(role)));
      y += height;
    }
  }
  // A single miss among hundreds of blocks would be a line of one pixel.
  if (const std::optional<std::size_t> miss = m_misses[overviewRow()]) {
    constexpr int kLeastMiss = 5;
    const int at = m_layout.cell({overviewRow(), *miss}).left() - kTableLabel;
    const int x = static_cast<int>(std::int64_t{bar.width()} * at / content);
    painter.fillRect(QRect(std::min(x, bar.width() - kLeastMiss), 0, kLeastMiss, bar.height()),
                     theme().ink(BlockRole::Computed));
  }
  return m_overview;
}

void BlockTableArea::paintLabels(QPainter& painter, int x, std::pair<std::size_t, std::size_t> rows) const {
  const int width = kTableLabel - 5 * kSpace;
  const QFontMetrics titles(theme().titleFont());
  const QFontMetrics small(theme().smallFont());
  for (std::size_t row = rows.first; row < rows.second; ++row) {
    const TableRow& own = m_table->rows[row];
    int y = m_layout.cellTop(row) - 2;
    const auto line = [&](const QString& text, const QFont& font, const QFontMetrics& metrics, Role role) {
      painter.setFont(font);
      painter.setPen(theme().color(role));
      painter.drawText(QRect(x + 3 * kSpace, y, width, 16), Qt::AlignVCenter | Qt::AlignLeft,
                       metrics.elidedText(text, Qt::ElideRight, width));
      y += 16;
    };
    line(own.title, theme().titleFont(), titles, Role::Text);
    line(own.subtitle, theme().smallFont(), small, Role::TextSecond);
    line(own.note, theme().smallFont(), small, Role::TextThird);
    // Down to the title of the next row.
    const int end = m_layout.cellTop(row) - 2 + m_layout.rowHeight();
    for (const QString& extra : own.extras) {
      if (y + 16 <= end) line(extra, theme().smallFont(), small, Role::TextThird);
    }
  }
}

void BlockTableArea::paintBrackets(QPainter& painter, std::size_t row, const QRect& visible) const {
  const auto& parts = m_table->rows[row].parts;
  QFont font = theme().smallFont();
  font.setWeight(QFont::DemiBold);
  const QFontMetrics metrics(font);
  painter.setFont(font);
  const int begin = visible.left() + kTableLabel;
  std::vector<NamedBracket> shown;
  std::vector<QColor> inks;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TablePart& part = parts[i];
    const QRect place = m_layout.bracket(row, i);
    if (place.right() < visible.left() || place.left() > visible.right()) continue;
    const bool isPlain = (part.hidden && !part.stored) || part.generated;
    const QColor ink = isPlain ? theme().color(Role::TextSecond) : theme().segmentInk(part.hue);
    const int y = place.bottom() - 4;
    const QRect line(place.left(), y, place.width(), 2);
    if (isPlain)
      painter.fillRect(line, ink);
    else
      fillWithHue(painter, line, theme(), ink, part.hue);
    painter.fillRect(QRect(place.left(), y, 2, 6), ink);
    painter.fillRect(QRect(place.right() - 1, y, 2, 6), ink);
    const QRect seen = place.intersected(QRect(begin, place.top(), visible.right() - begin, place.height()));
    if (seen.isEmpty()) continue;
    shown.push_back({.place = seen, .name = part.name, .isCut = seen != place});
    inks.push_back(ink);
  }
  const std::vector<BracketName> names = bracketNames(shown, begin, visible.right(), metrics);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const QRect room(names[i].left, shown[i].place.top(), metrics.horizontalAdvance(names[i].text) + 1,
                     shown[i].place.height() - 6);
    painter.setPen(inks[i]);
    painter.drawText(room, Qt::AlignLeft | Qt::AlignBottom, names[i].text);
  }
}

void BlockTableArea::paintCells(QPainter& painter, std::size_t row, const QRect& visible) const {
  const TableRow& own = m_table->rows[row];
  const auto [begin, end] = m_layout.between(row, visible.left(), visible.right());
  for (std::size_t i = begin; i < end; ++i) {
    const QRect place = m_layout.cell({row, i});
    const BlockLook look = lookOf(own.cells[i], m_table->blockSize);
    // A scaled stamp would be blurred.
    if (exporting() || (scale() != 1 && m_motion == nullptr)) {
      m_painter.block(painter, place, look);
    } else if (m_motion == nullptr) {
      m_painter.stamp(painter, place, look);
    } else if (!paintMoving(painter, {row, i}, look)) {
      continue;
    }
    paintMarks(painter, own.cells[i], place);
    if (m_layout.size() == CellSize::Large) paintNumbers(painter, own.cells[i], place);
  }
  // Every large cell has its virtual number below. A smaller cell has one if it is the first of a segment, or
  // if the number is a multiple of 10.
  painter.setFont(theme().monoFont());
  painter.setPen(theme().color(Role::TextThird));
  const QFontMetrics metrics(theme().monoFont());
  const bool large = m_layout.size() == CellSize::Large;
  const std::optional<std::size_t> miss = m_misses[row];
  const QRect mark = miss ? paintFirstMiss(painter, row, visible) : QRect();
  painter.setPen(theme().color(Role::TextThird));
  int free = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (i == miss || !hasNumber(own.cells[i])) continue;
    const QRect place = m_layout.cell({row, i});
    const QString text = QString::number(own.cells[i].facts.number);
    if (!large && place.left() < free) continue;
    const int width = metrics.horizontalAdvance(text);
    const QRect room(place.left(), place.bottom() + kNumberGap,
                     large ? std::max(place.width(), width) : width, 16);
    if (room.intersects(mark)) continue;
    painter.drawText(room, (large ? Qt::AlignHCenter : Qt::AlignLeft) | Qt::AlignVCenter, text);
    free = place.left() + width + 2 * kSpace;
  }
}

std::pair<int, int> roomBeside(int x, int gap, int width, int end) {
  const int right = std::max(0, end - x - gap);
  const int left = std::max(0, x - gap - kTableLabel);
  if (width <= right || (width > left && right >= left)) return {x + gap, std::min(width, right)};
  return {x - gap - std::min(width, left), std::min(width, left)};
}

bool BlockTableArea::hasNumber(const TableCell& cell) const {
  const std::int32_t number = cell.facts.number;
  if (number < 0) return false;
  return m_layout.size() == CellSize::Large || cell.facts.place.virtualIndex == 0 || number % 10 == 0;
}

int BlockTableArea::nextNumber(std::size_t row, std::size_t index) const {
  const std::vector<TableCell>& cells = m_table->rows[row].cells;
  for (std::size_t i = index + 1; i < cells.size(); ++i) {
    if (hasNumber(cells[i])) return m_layout.cell({row, i}).left();
  }
  return std::numeric_limits<int>::max();
}

QRect BlockTableArea::paintFirstMiss(QPainter& painter, std::size_t row, const QRect& visible) const {
  constexpr int kTip = 8;  // width of the triangle
  const std::size_t index = *m_misses[row];
  const QRect cell = m_layout.cell({row, index});
  if (cell.right() < visible.left() || cell.left() > visible.right()) return {};
  const QColor ink = theme().ink(BlockRole::Computed);
  const int x = cell.left() + std::min(cell.width(), 2 * kTip) / 2;
  const int y = cell.bottom() + 2 * kNumberGap;
  QPainterPath tip;
  tip.moveTo(x, y);
  tip.lineTo(x + kTip / 2, y + kTip);
  tip.lineTo(x - kTip / 2, y + kTip);
  tip.closeSubpath();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillPath(tip, ink);
  painter.restore();
  const QString number = QString::number(m_table->rows[row].cells[index].facts.number);
  const QFontMetrics metrics(theme().monoFont());
  // The labels of the rows stay at the left edge of the view.
  const int begin = visible.left();
  QString text = metricPhrase("first-missing-block", number);
  // The words are right of the triangle, before the next number. Otherwise they would be below blocks to
  // which they do not belong.
  const int free = std::min(visible.right(), nextNumber(row, index) - 2 * kSpace);
  if (x + kTip + metrics.horizontalAdvance(text) > free) text = number;
  const auto [left, width] =
      roomBeside(x - begin, kTip, metrics.horizontalAdvance(text) + 1, visible.width());
  const QRect place(begin + left, cell.bottom() + kNumberGap, width, 16);
  painter.setPen(ink);
  painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(text, Qt::ElideRight, width));
  return place.united(QRect(x - kTip / 2, place.top(), kTip, place.height())).adjusted(-kSpace, 0, kSpace, 0);
}

bool BlockTableArea::paintMoving(QPainter& painter, const CellPlace& place, const BlockLook& look) const {
  const QRect cell = m_layout.cell(place);
  const TableCell* earlier = m_motion->cellBefore(place);
  BlockLook before = earlier == nullptr ? BlockLook{} : lookOf(*earlier, m_table->blockSize);
  if (m_motion->isComputing(place)) before = {};
  if (m_motion->travelsTo(place)) {
    m_painter.stamp(painter, cell, before);
    return false;
  }
  if (before == look || m_motion->rowBefore[place.row] < 0) {
    m_painter.stamp(painter, cell, look);
    return true;
  }
  paintBetween(painter, m_painter, cell, before, look, m_done);
  return true;
}

void BlockTableArea::paintTravels(QPainter& painter, const QRect& visible) const {
  const double done = eased(m_done);
  QRect first;
  for (const TableTravel& travel : m_motion->travels) {
    const QRect to = m_layout.cell(travel.to);
    QRect place(QPoint(), to.size());
    place.moveCenter(onTheWay(m_layout.cell(travel.from).center(), to.center(), done));
    if (!place.intersects(visible)) continue;
    const TableCell& cell = m_table->rows[travel.to.row].cells[travel.to.cell];
    m_painter.stamp(painter, place, lookOf(cell, m_table->blockSize));
    if (m_layout.size() == CellSize::Large) paintNumbers(painter, cell, place);
    if (first.isNull()) first = place;
  }
  if (first.isNull()) return;
  const QRect bounds = visible.adjusted(std::max(0, kTableLabel - visible.left()), 0, -kSpace, 0);
  paintMotionNote(painter, theme(), first, bounds, m_motion->note,
                  theme().ink(m_motion->travels.front().role));
}

/// Paints lines over blocks outside of windows, and marks the changes of the layout. Delimiter tokens are a
/// bar at the left. Padding is hatched from the right. Cropped tokens are a dotted right edge.
void BlockTableArea::paintMarks(QPainter& painter, const TableCell& cell, const QRect& place) const {
  if (cell.pads == 0 && cell.markers == 0 && cell.cropped == 0 && cell.outsideLayers == 0) return;
  const QRect inner = place.adjusted(1, 1, -1, -1);
  if (cell.outsideLayers > 0) {
    constexpr int kLines = 5;  // pixels from one line to the next
    QColor line = theme().color(Role::TextSecond);
    line.setAlphaF(0.6F);
    for (int y = inner.top() + 2; y <= inner.bottom(); y += kLines)
      painter.fillRect(QRect(inner.left(), y, inner.width(), 1), line);
  }
  if (cell.pads > 0) {
    const int width = std::max(2, inner.width() * cell.pads / std::max(1, m_table->blockSize));
    const QRect pads(inner.right() + 1 - width, inner.top(), width, inner.height());
    QColor veil = theme().color(Role::Surface);
    veil.setAlphaF(0.6F);
    painter.fillRect(pads, veil);
    constexpr int kLines = 3;  // pixels from one line to the next
    for (int x = pads.left(); x <= pads.right(); x += kLines)
      painter.fillRect(QRect(x, pads.top(), 1, pads.height()), theme().color(Role::TextSecond));
  }
  if (cell.markers > 0) {
    const int width = inner.width() >= 16 ? 3 : 2;
    painter.fillRect(QRect(inner.left(), inner.top(), width, inner.height()), theme().color(Role::Text));
  }
  if (cell.cropped > 0) {
    painter.setPen(QPen(theme().color(Role::Error), 2, Qt::DotLine));
    painter.drawLine(place.right() + 1, place.top(), place.right() + 1, place.bottom());
  }
}

void BlockTableArea::paintNumbers(QPainter& painter, const TableCell& cell, const QRect& place) const {
  painter.setFont(theme().monoFont());
  painter.setPen(cell.role == BlockRole::Free ? theme().color(Role::TextThird) : theme().ink(cell.role));
  const bool second = cell.facts.tokens < m_table->blockSize || cell.references >= 2;
  const auto write = [&](const QRect& room, const QString& text) {
    // The line between cached and computed tokens would cross the letters.
    if (cell.isPartialHit()) {
      const QRect letters = painter.boundingRect(room, Qt::AlignCenter, text);
      painter.fillRect(letters.adjusted(-1, 1, 1, -1), theme().color(Role::Surface));
    }
    painter.drawText(room, Qt::AlignCenter, text);
  };
  if (cell.facts.physical != kNullBlock)
    write(place.adjusted(0, second ? 4 : 0, 0, second ? -place.height() / 2 : 0),
          QStringLiteral("#%1").arg(cell.facts.physical));
  if (!second) return;
  QStringList parts;
  if (cell.facts.tokens < m_table->blockSize)
    parts << QStringLiteral("%1/%2").arg(cell.facts.tokens).arg(m_table->blockSize);
  if (cell.references >= 2) parts << QStringLiteral("×%1").arg(cell.references);
  // Without room for both, the count of tokens stays: a shared block has a second outline.
  QString text = parts.join(QLatin1Char(' '));
  if (painter.fontMetrics().horizontalAdvance(text) > place.width()) text = parts.front();
  write(place.adjusted(0, place.height() / 2, 0, -4), text);
}

void BlockTableArea::paintRings(QPainter& painter, std::pair<std::size_t, std::size_t> rows,
                                const QRect& visible) const {
  for (std::size_t row = rows.first; row < rows.second; ++row) {
    const auto [begin, end] = m_layout.between(row, visible.left(), visible.right());
    for (std::size_t i = begin; i < end; ++i) {
      const TableCell& cell = m_table->rows[row].cells[i];
      if (m_current && *m_current == CellPlace{row, i}) {
        m_painter.ring(painter, m_layout.cell({row, i}));
      } else if (m_physical != kNullBlock && cell.facts.physical == m_physical && cell.isThere()) {
        m_painter.echo(painter, m_layout.cell({row, i}));
      }
    }
  }
}

void BlockTableArea::paintLinks(QPainter& painter, std::pair<std::size_t, std::size_t> rows,
                                const QRect& visible) const {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  auto link =
      std::lower_bound(m_table->links.begin(), m_table->links.end(), rows.first == 0 ? 0 : rows.first - 1,
                       [](const TableLink& own, std::size_t row) { return own.row < row; });
  for (; link != m_table->links.end() && link->row < rows.second; ++link) {
    const QRect from = m_layout.cell({link->row, link->from});
    const QRect to = m_layout.cell({link->row + 1, link->to});
    const int width = static_cast<int>(link->count) * m_layout.pitch();
    const int left = std::min(from.left(), to.left());
    const int right = std::max(from.left(), to.left()) + width;
    if (right < visible.left() || left > visible.right()) continue;
    if (m_layout.size() == CellSize::Strip) {
      paintBand(painter, *link);
      continue;
    }
    for (std::size_t i = 0; i < link->count; ++i) {
      const int shift = static_cast<int>(i) * m_layout.pitch();
      const auto inSight = [&](const QRect& cell) {
        return cell.right() + shift >= visible.left() && cell.left() + shift <= visible.right();
      };
      if (inSight(from) || inSight(to)) paintLink(painter, *link, i);
    }
  }
  painter.restore();
}

void BlockTableArea::paintBand(QPainter& painter, const TableLink& link) const {
  const double width = static_cast<double>(link.count) * m_layout.pitch();
  const QRect from = m_layout.cell({link.row, link.from});
  const QRect to = m_layout.cell({link.row + 1, link.to});
  const double top = from.bottom() + 18;
  const double bottom = m_layout.bracket(link.row + 1, 0).top();
  const double middle = (top + bottom) / 2;
  QPainterPath path(QPointF(from.left(), top));
  path.cubicTo(QPointF(from.left(), middle), QPointF(to.left(), middle), QPointF(to.left(), bottom));
  path.lineTo(to.left() + width, bottom);
  path.cubicTo(QPointF(to.left() + width, middle), QPointF(from.left() + width, middle),
               QPointF(from.left() + width, top));
  path.closeSubpath();
  QColor ink = theme().ink(link.role);
  ink.setAlphaF(0.25F);
  painter.fillPath(path, ink);
}

void BlockTableArea::paintLink(QPainter& painter, const TableLink& link, std::size_t index) const {
  const QRect from = m_layout.cell({link.row, link.from + index});
  const QRect to = m_layout.cell({link.row + 1, link.to + index});
  const QPointF start(from.center().x() + 0.5, from.bottom() + 18);
  const QPointF end(to.center().x() + 0.5, m_layout.rowTop(link.row + 1) + 2);
  const double middle = (start.y() + end.y()) / 2;
  QPainterPath path(start);
  path.cubicTo(QPointF(start.x(), middle), QPointF(end.x(), middle), end);
  QColor ink = theme().ink(link.role);
  ink.setAlphaF(link.role == BlockRole::Relocated ? 0.8F : 0.45F);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(ink, 1.2, link.copied ? Qt::DashLine : Qt::SolidLine));
  painter.drawPath(path);
}

}  // namespace spanscope::ui
