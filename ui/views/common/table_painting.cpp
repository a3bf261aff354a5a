// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/table_painting.h"

#include <QFontMetrics>
#include <QHeaderView>
#include <QTableView>

#include <algorithm>
#include <numeric>

namespace spanscope::ui {
namespace {

constexpr int kPad = 2 * kSpace;
constexpr int kHeader = 28;
constexpr int kLeastRow = 24;
constexpr int kLeastWidth = 480;

std::vector<int> edgesOf(const PaintedTable& table, int width) {
  const int sum = std::max(1, std::accumulate(table.shares.begin(), table.shares.end(), 0));
  std::vector<int> edges{0};
  int done = 0;
  for (const int share : table.shares) {
    done += share;
    edges.push_back(width * done / sum);
  }
  return edges;
}

QFont fontOf(const PaintedCell& cell, const Theme& theme) {
  return cell.mono ? theme.monoFont() : theme.interfaceFont();
}

int rowHeight(const std::vector<PaintedCell>& row, const std::vector<int>& edges, const Theme& theme) {
  int height = kLeastRow;
  for (std::size_t c = 0; c < row.size() && c + 1 < edges.size(); ++c) {
    const int width = std::max(8, edges[c + 1] - edges[c] - 2 * kPad);
    const QRect bounds = QFontMetrics(fontOf(row[c], theme))
                             .boundingRect(QRect(0, 0, width, 1 << 20), Qt::TextWordWrap, row[c].text);
    height = std::max(height, bounds.height() + kPad);
  }
  return height;
}

}  // namespace

int paintedTableHeight(const PaintedTable& table, const Theme& theme, int width) {
  const std::vector<int> edges = edgesOf(table, width);
  int height = table.headers.empty() ? 0 : kHeader;
  for (const auto& row : table.rows) height += rowHeight(row, edges, theme);
  return height;
}

void paintTable(QPainter& painter, const QRect& area, const PaintedTable& table, const Theme& theme) {
  const std::vector<int> edges = edgesOf(table, area.width());
  int y = area.top();
  if (!table.headers.empty()) {
    painter.setFont(theme.smallFont());
    painter.setPen(theme.color(Role::TextThird));
    for (std::size_t c = 0; c < table.headers.size() && c + 1 < edges.size(); ++c) {
      painter.drawText(QRect(area.left() + edges[c] + kPad, y, edges[c + 1] - edges[c] - 2 * kPad, kHeader),
                       Qt::AlignLeft | Qt::AlignVCenter, table.headers[c]);
    }
    y += kHeader;
    painter.setPen(QPen(theme.color(Role::Line), 1));
    painter.drawLine(area.left(), y, area.right(), y);
  }
  for (const auto& row : table.rows) {
    const int height = rowHeight(row, edges, theme);
    if (y + height > area.bottom() + 1) return;
    for (std::size_t c = 0; c < row.size() && c + 1 < edges.size(); ++c) {
      painter.setFont(fontOf(row[c], theme));
      painter.setPen(theme.color(row[c].ink));
      painter.drawText(QRect(area.left() + edges[c] + kPad, y, edges[c + 1] - edges[c] - 2 * kPad, height),
                       Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, row[c].text);
    }
    y += height;
    painter.setPen(QPen(theme.color(Role::Line), 1));
    painter.drawLine(area.left(), y, area.right(), y);
  }
}

QString tableStyle(const Theme& theme) {
  return QStringLiteral(
             "QTableView::item { padding: 2px 8px; border: none; border-bottom: 1px solid %1; }"
             "QTableView::item:selected { background: %2; color: %3; }")
      .arg(theme.color(Role::Line).name(), theme.color(Role::AccentFill).name(),
           theme.color(Role::Text).name());
}

void paintTableInto(QPainter& painter, const QSize& size, const PaintedTable& table, const Theme& theme) {
  painter.fillRect(QRect(QPoint(), size), theme.color(Role::Surface));
  int width = std::max(kLeastWidth, size.width());
  int height = paintedTableHeight(table, theme, width);
  double scale = std::min(1.0 * size.width() / width, 1.0 * size.height() / std::max(1, height));
  scale = std::min(1.0, scale);
  // Wider lines where it had to shrink, so that the width is used.
  width = std::max(width, static_cast<int>(size.width() / scale));
  painter.save();
  painter.scale(scale, scale);
  paintTable(painter, QRect(0, 0, width, static_cast<int>(size.height() / scale) + 1), table, theme);
  painter.restore();
}

void showWholeRows(QTableView& table, int rowHeight) {
  table.setFrameShape(QFrame::NoFrame);
  table.setShowGrid(false);
  table.setWordWrap(false);
  table.setTabKeyNavigation(false);
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setSelectionMode(QAbstractItemView::SingleSelection);
  QHeaderView* rows = table.verticalHeader();
  rows->hide();
  rows->setSectionResizeMode(QHeaderView::Fixed);
  rows->setMinimumSectionSize(rowHeight);
  rows->setDefaultSectionSize(rowHeight);
  table.horizontalHeader()->setHighlightSections(false);
  table.horizontalHeader()->setStretchLastSection(true);
}

}  // namespace spanscope::ui
