// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/block_table/block_table_area.h"

#include "ui/views/common/short_names.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {

namespace {

/// Height of the numbers that stand below the cells of a row.
constexpr int kNumbersBelow = 20;

}  // namespace

BlockTableArea::BlockTableArea(QWidget* parent) : ZoomedScroll(parent) {
  setAccessibleName(tr("Blocks of each request"));
  connect(verticalScrollBar(), &QScrollBar::actionTriggered, this, [this] { m_keepsRow = false; });
}

void BlockTableArea::showTable(const BlockTable* table, bool changed, std::optional<CellPlace> current,
                               BlockId physical, const Theme& theme) {
  changed = changed || m_table == nullptr;
  if (changed || current != m_current || theme != this->theme()) m_overview = {};
  m_table = table;
  m_current = current;
  m_physical = physical;
  setTheme(theme);
  m_painter.setTheme(theme);
  if (changed) layOut();
  viewport()->update();
}

void BlockTableArea::showMotion(const TableMotion* motion, double done) {
  if (motion == nullptr && m_motion == nullptr) return;
  m_motion = motion;
  m_done = done;
  viewport()->update();
}

void BlockTableArea::layOut() {
  if (m_table == nullptr) return;
  const int width = viewport()->width();
  const CellSize size = m_wanted.value_or(TableLayout::fitting(*m_table, width));
  int pitch = TableLayout::filling(*m_table, size, width);
  m_overviewShown = pitch == 0;
  if (m_overviewShown) pitch = std::max(TableLayout::least(size), pitchForNames(size));
  // Names are cut only if the table would not fit because of them. If the table is wider than its view
  // anyway, no name is cut.
  m_layout = TableLayout(*m_table, size, m_overviewShown, nameWidths(), pitch);
  const auto isTooWide = [&] { return !m_overviewShown && m_layout.contentSize().width() > width; };
  for (int less = pitch; isTooWide() && less >= TableLayout::least(size); --less)
    m_layout = TableLayout(*m_table, size, false, nameWidths(), less);
  if (isTooWide()) m_layout = TableLayout(*m_table, size, false, {}, pitch);
  m_layout.fillHeight(viewport()->height());
  m_overview = {};
  nameParts();
  contentChanged();
}

/// The least pitch at which the names of parts that share a segment fit above their own blocks. It stays
/// below twice the least pitch of the size; parts of few blocks do not count.
int BlockTableArea::pitchForNames(CellSize size) const {
  constexpr double kFewBlocks = 4;
  const QFontMetrics metrics = nameMetrics();
  double pitch = 0;
  for (const TableRow& row : m_table->rows) {
    for (const TablePart& part : row.parts) {
      const double blocks = double(part.last - part.first) + part.end - part.begin;
      if (blocks >= kFewBlocks)
        pitch = std::max(pitch, (metrics.horizontalAdvance(part.name) + 2 * kSpace) / blocks);
    }
  }
  return std::min(static_cast<int>(std::ceil(pitch)), 2 * TableLayout::least(size) - 1);
}

QFontMetrics BlockTableArea::nameMetrics() const {
  QFont font = theme().smallFont();
  font.setWeight(QFont::DemiBold);
  return QFontMetrics(font);
}

std::vector<std::vector<int>> BlockTableArea::nameWidths() const {
  constexpr int kWidest = 100;
  const QFontMetrics metrics = nameMetrics();
  std::vector<std::vector<int>> widths;
  for (const TableRow& row : m_table->rows) {
    std::vector<int>& own = widths.emplace_back();
    for (const TableSegment& segment : row.segments) {
      // A segment of several parts has them side by side, with the room that their tokens take.
      const auto isAlone = [&segment](const TablePart& part) {
        return part.first == segment.first && part.last + 1 == segment.first + segment.count;
      };
      const auto part = std::find_if(row.parts.begin(), row.parts.end(), isAlone);
      own.push_back(part == row.parts.end() ? 0 : std::min(kWidest, metrics.horizontalAdvance(part->name)));
    }
  }
  return widths;
}

void BlockTableArea::nameParts() {
  const QFontMetrics metrics = nameMetrics();
  const int width = std::max(viewport()->width(), m_layout.contentSize().width());
  m_names.clear();
  m_namesRight = 0;
  for (std::size_t row = 0; row < m_table->rows.size(); ++row) {
    const auto& parts = m_table->rows[row].parts;
    std::vector<NameRoom> names;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      // A name may use the room up to the next bracket.
      const QRect place = m_layout.bracket(row, i);
      const int room = i + 1 < parts.size() ? m_layout.bracket(row, i + 1).left() - place.left() - kSpace
                                            : width - place.left() - kSpace;
      names.push_back({parts[i].name, static_cast<double>(std::max(place.width(), room))});
    }
    m_names.push_back(shortNames(names, metrics));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      // One letter names nothing; a number does.
      QString& name = m_names.back()[i];
      if (name.size() == 1 && parts[i].name.size() > 1 && !name.front().isDigit()) name.clear();
    }
    if (parts.empty()) continue;
    const int last = m_layout.bracket(row, parts.size() - 1).left();
    m_namesRight =
        std::max(m_namesRight, last + metrics.horizontalAdvance(m_names.back().back()) + 2 * kSpace);
  }
}

void BlockTableArea::setCellSize(std::optional<CellSize> size) {
  if (m_wanted == size) return;
  m_wanted = size;
  layOut();
  if (m_current) reveal(*m_current);
}

void BlockTableArea::zoom(int steps) {
  const int next =
      std::clamp(static_cast<int>(m_layout.size()) - steps, 0, static_cast<int>(CellSize::Strip));
  setCellSize(static_cast<CellSize>(next));
}

void BlockTableArea::reveal(const CellPlace& place) {
  QRect cell = m_layout.cell(place);
  if (cell.isNull()) return;
  // The labels at the left and the overview at the top cover content.
  cell.adjust(-kTableLabel, m_overviewShown ? -kTableOverview - 28 : -28, 0, kNumbersBelow);
  m_keepsRow = place.row == m_ownRow;
  makeVisible(cell);
}

void BlockTableArea::showRow(std::size_t row) {
  if (m_table == nullptr || row >= m_table->rows.size()) return;
  if (m_ownRow != row) m_overview = {};
  m_ownRow = row;
  m_keepsRow = true;
  QScrollBar* const bar = verticalScrollBar();
  const int bottom = m_layout.cell({row, 0}).bottom() + kNumbersBelow;
  bar->setValue(row + 1 == m_table->rows.size() ? bar->maximum() : bottom - viewport()->height());
  viewport()->update();
}

QSize BlockTableArea::contentSize() const {
  if (m_table == nullptr || m_table->rows.empty()) return viewport()->size();
  const QSize layout = m_layout.contentSize();
  // The last name of a row may stand out if there is room for it.
  return {std::max(layout.width(), std::min(viewport()->width(), m_namesRight)), layout.height()};
}

void BlockTableArea::resizeEvent(QResizeEvent* event) {
  layOut();
  ZoomedScroll::resizeEvent(event);
  // What was shown stays in sight in less room, unless the person has scrolled to something else.
  if (m_keepsRow && m_ownRow) showRow(*m_ownRow);
}

QRect BlockTableArea::overviewBar() const {
  return {kTableLabel, 2 * kSpace, std::max(1, viewport()->width() - kTableLabel - 3 * kSpace), 16};
}

void BlockTableArea::scrollByOverview(int x) {
  const QRect bar = overviewBar();
  const double share = std::clamp(double(x - bar.left()) / bar.width(), 0.0, 1.0);
  const int content = m_layout.contentSize().width() - kTableLabel;
  const int seen = viewport()->width() - kTableLabel;
  horizontalScrollBar()->setValue(static_cast<int>(share * content) - seen / 2);
}

void BlockTableArea::pressed(const QPoint& place) {
  const QPoint seen = place - offset();
  m_dragging = m_overviewShown && seen.y() < kTableOverview;
  if (m_dragging) {
    scrollByOverview(seen.x());
    return;
  }
  if (seen.x() < kTableLabel) return;
  if (const std::optional<CellPlace> cell = m_layout.at(place)) Q_EMIT chosen(*cell);
}

void BlockTableArea::mouseMoveEvent(QMouseEvent* event) {
  if (m_dragging && event->buttons().testFlag(Qt::LeftButton))
    scrollByOverview(event->position().toPoint().x());
}

QString BlockTableArea::tipAt(const QPoint& place) const {
  const QPoint seen = place - offset();
  if (m_table == nullptr || (m_overviewShown && seen.y() < kTableOverview)) return {};
  if (seen.x() < kTableLabel) {
    const auto [first, last] = m_layout.rowsBetween(place.y(), place.y());
    if (first >= last) return {};
    const TableRow& row = m_table->rows[first];
    return (QStringList{row.title, row.subtitle, row.note} + row.extras).join(QLatin1Char('\n'));
  }
  const std::optional<CellPlace> cell = m_layout.at(place);
  return cell && m_tips ? m_tips(*cell) : QString();
}

std::optional<CellPlace> BlockTableArea::target(const QKeyEvent& event) const {
  if (m_table == nullptr || m_table->rows.empty()) return std::nullopt;
  const std::size_t rows = m_table->rows.size();
  // If nothing is selected yet, every key starts at the row that is shown.
  const CellPlace from = m_current.value_or(CellPlace{std::min(m_ownRow.value_or(rows - 1), rows - 1), 0});
  const std::size_t cells = m_table->rows[from.row].cells.size();
  if (cells == 0) return std::nullopt;
  const int x = m_layout.cell(from).center().x();
  switch (event.key()) {
    case Qt::Key_Right:
      return m_current ? CellPlace{from.row, std::min(from.cell + 1, cells - 1)} : from;
    case Qt::Key_Left:
      return m_current ? CellPlace{from.row, from.cell == 0 ? 0 : from.cell - 1} : from;
    case Qt::Key_Home:
      return CellPlace{from.row, 0};
    case Qt::Key_End:
      return CellPlace{from.row, cells - 1};
    case Qt::Key_Up:
      return m_current ? m_layout.nearest(from.row == 0 ? 0 : from.row - 1, x) : from;
    case Qt::Key_Down:
      return m_current ? m_layout.nearest(std::min(from.row + 1, rows - 1), x) : from;
    case Qt::Key_PageUp:
      return m_layout.nearest(0, x);
    case Qt::Key_PageDown:
      return m_layout.nearest(rows - 1, x);
    default:
      return std::nullopt;
  }
}

void BlockTableArea::keyPressEvent(QKeyEvent* event) {
  const std::optional<CellPlace> next = target(*event);
  if (!next) {
    ZoomedScroll::keyPressEvent(event);
    return;
  }
  reveal(*next);
  if (next != m_current) Q_EMIT chosen(*next);
}

}  // namespace spanscope::ui
