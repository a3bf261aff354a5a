// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/block_table/block_table_layout.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace spanscope::ui {
namespace {

constexpr int kMargin = 3 * kSpace;
constexpr int kBracketZone = 28;  // name, bracket and the gap below it
constexpr int kLinkZone = 36;     // room for links below a row of large cells

int gapOf(CellSize size) {
  switch (size) {
    case CellSize::Large:
      return 8;
    case CellSize::Small:
      return 6;
    case CellSize::Strip:
      break;
  }
  return 3;
}

int widthOf(const BlockTable& table, CellSize size, int pitch) {
  int width = kTableLabel;
  for (const TableRow& row : table.rows) {
    width = std::max(width, kTableLabel + static_cast<int>(row.cells.size()) * pitch +
                                static_cast<int>(row.segments.size()) * gapOf(size) + kMargin);
  }
  return width;
}

}  // namespace

int TableLayout::least(CellSize size) {
  switch (size) {
    case CellSize::Large:
      return 50;
    case CellSize::Small:
      return 24;
    case CellSize::Strip:
      break;
  }
  return 6;
}

CellSize TableLayout::fitting(const BlockTable& table, int width) {
  for (const CellSize size : {CellSize::Large, CellSize::Small}) {
    if (widthOf(table, size, least(size)) <= width) return size;
  }
  return CellSize::Strip;
}

int TableLayout::filling(const BlockTable& table, CellSize size, int width) {
  // Above this pitch, cells of the next size would begin.
  const int most = size == CellSize::Strip ? 3 * TableLayout::least(size) : TableLayout::least(size);
  for (int pitch = most; pitch >= TableLayout::least(size); --pitch) {
    if (widthOf(table, size, pitch) <= width) return pitch;
  }
  return 0;
}

TableLayout::TableLayout(const BlockTable& table, CellSize size, bool overview,
                         const std::vector<std::vector<int>>& names, int pitch)
    : m_size(size),
      m_pitch(pitch > 0 ? pitch : TableLayout::least(size)),
      m_top(kMargin + (overview ? kTableOverview : 0)),
      m_width(widthOf(table, size, m_pitch)) {
  m_rows.reserve(table.rows.size());
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const TableRow& row = table.rows[r];
    Row own;
    own.cells = row.cells.size();
    own.brackets = row.parts;
    int x = kTableLabel;
    for (std::size_t s = 0; s < row.segments.size(); ++s) {
      const TableSegment& segment = row.segments[s];
      own.groups.push_back({segment.first, segment.count, x});
      const int cells = static_cast<int>(segment.count) * m_pitch + gapOf(size);
      const int name = names.empty() ? 0 : names[r][s] + kSpace;
      x += std::max(cells, name);
    }
    m_width = std::max(m_width, x + kMargin);
    m_rows.push_back(std::move(own));
  }
  m_height = m_rows.empty() ? 0 : bottom();
}

void TableLayout::fillHeight(int height) {
  m_extraHeight = 0;
  if (m_rows.empty() || m_size == CellSize::Large) return;
  constexpr int kHighest = 48;
  const int left = height - bottom();
  m_extraHeight = std::clamp(left / static_cast<int>(m_rows.size()), 0, kHighest - cellHeight());
  m_height = bottom();
}

int TableLayout::bottom() const {
  // No links leave the last row. Its label may have a line more than there is room beside cells and numbers,
  // most of which stands in the margin.
  constexpr int kLastLabel = 4;
  const int unused = m_size == CellSize::Large ? kLinkZone - kLastLabel : 0;
  return rowTop(m_rows.size()) - unused + kMargin;
}

int TableLayout::cellHeight() const {
  switch (m_size) {
    case CellSize::Large:
      return 44;
    case CellSize::Small:
      return 22 + m_extraHeight;
    case CellSize::Strip:
      break;
  }
  return 18 + m_extraHeight;
}

int TableLayout::rowHeight() const {
  // Below the cells stand the virtual numbers, then there is room for the links.
  return kBracketZone + cellHeight() + 20 + (m_size == CellSize::Large ? kLinkZone : 28);
}

int TableLayout::cellTop(std::size_t row) const {
  return rowTop(row) + kBracketZone;
}

const TableLayout::Group* TableLayout::groupOf(const Row& row, std::size_t cell) const {
  const auto after =
      std::upper_bound(row.groups.begin(), row.groups.end(), cell,
                       [](std::size_t wanted, const Group& group) { return wanted < group.first; });
  return after == row.groups.begin() ? nullptr : &*std::prev(after);
}

QRect TableLayout::cell(const CellPlace& place) const {
  if (place.row >= m_rows.size()) return {};
  const Group* group = groupOf(m_rows[place.row], place.cell);
  if (group == nullptr) return {};
  const int gap = m_size == CellSize::Large ? 4 : m_size == CellSize::Small ? 2 : 0;
  return {group->x + static_cast<int>(place.cell - group->first) * pitch(), cellTop(place.row), pitch() - gap,
          cellHeight()};
}

QRect TableLayout::bracket(std::size_t row, std::size_t part) const {
  if (row >= m_rows.size() || part >= m_rows[row].brackets.size()) return {};
  const TablePart& own = m_rows[row].brackets[part];
  const int gap = m_size == CellSize::Strip ? 1 : m_size == CellSize::Small ? 2 : 4;
  const auto within = [this](double share) { return static_cast<int>(std::lround(share * pitch())); };
  const int left = cell({row, own.first}).left() + within(own.begin);
  const int right = cell({row, own.last}).left() + within(own.end) - gap;
  return {left, rowTop(row), std::max(2, right - left), kBracketZone - kSpace};
}

std::optional<CellPlace> TableLayout::at(const QPoint& place) const {
  const int y = place.y() - m_top;
  if (y < 0) return std::nullopt;
  const auto row = static_cast<std::size_t>(y / rowHeight());
  if (row >= m_rows.size()) return std::nullopt;
  const std::optional<CellPlace> found = nearest(row, place.x());
  if (!found) return std::nullopt;
  // The gap beside a cell and the number below it belong to it.
  const QRect own = cell(*found).adjusted(0, 0, m_size == CellSize::Strip ? 0 : 4, 16);
  return own.contains(place) ? found : std::nullopt;
}

std::optional<CellPlace> TableLayout::nearest(std::size_t row, int x) const {
  if (row >= m_rows.size() || m_rows[row].groups.empty()) return std::nullopt;
  const auto& groups = m_rows[row].groups;
  auto after = std::upper_bound(groups.begin(), groups.end(), x,
                                [](int wanted, const Group& group) { return wanted < group.x; });
  const Group& group = after == groups.begin() ? groups.front() : *std::prev(after);
  const int index = std::clamp((x - group.x) / pitch(), 0, static_cast<int>(group.count) - 1);
  return CellPlace{row, group.first + static_cast<std::size_t>(index)};
}

std::pair<std::size_t, std::size_t> TableLayout::between(std::size_t row, int left, int right) const {
  const auto first = nearest(row, left);
  const auto last = nearest(row, right);
  if (!first || !last) return {0, 0};
  return {first->cell, std::min(last->cell + 1, m_rows[row].cells)};
}

std::pair<std::size_t, std::size_t> TableLayout::rowsBetween(int top, int bottom) const {
  const int height = rowHeight();
  const int first = std::max(0, (top - m_top) / height);
  const int last = std::max(0, (bottom - m_top) / height + 1);
  return {std::min(static_cast<std::size_t>(first), m_rows.size()),
          std::min(static_cast<std::size_t>(last), m_rows.size())};
}

}  // namespace spanscope::ui
