// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/table_painting.h"

#include <QFontMetrics>
#include <QHeaderView>
#include <QRegularExpression>
#include <QStyle>
#include <QStyleOptionHeader>
#include <QTableView>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spanscope::ui {

namespace {

constexpr int kPad = 2 * kSpace;
constexpr int kHeader = 28;
constexpr int kLeastRow = 24;
constexpr int kLeastWidth = 480;

QFont fontOf(const PaintedCell& cell, const Theme& theme) {
  QFont font = cell.mono ? theme.monoFont() : theme.interfaceFont();
  if (cell.bold) font.setBold(true);
  return font;
}

int alignmentOf(const PaintedCell& cell) {
  return (cell.isRight ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter;
}

/// The min width for a text: the whole text if it is short, else its longest word.
int leastTextWidth(const QString& text, const QFont& font) {
  constexpr int kShort = 12;  // characters
  const QFontMetrics metrics(font);
  if (text.size() <= kShort) return metrics.horizontalAdvance(text) + 1;
  int width = 0;
  for (const QString& word : text.split(QLatin1Char(' '))) {
    if (word.size() <= kShort) width = std::max(width, metrics.horizontalAdvance(word));
  }
  return width + 1;  // advances are rounded
}

/// The width that each column needs for its header and its short texts.
std::vector<int> leastWidths(const PaintedTable& table, const Theme& theme) {
  std::vector<int> least(table.shares.size(), 0);
  for (std::size_t c = 0; c < least.size(); ++c) {
    if (c < table.headers.size()) least[c] = leastTextWidth(table.headers[c], theme.smallFont());
    for (const auto& row : table.rows) {
      if (c < row.size()) least[c] = std::max(least[c], leastTextWidth(row[c].text, fontOf(row[c], theme)));
    }
    least[c] += 2 * kPad;
  }
  return least;
}

/// The scale of the whole table: below 1 if its columns need more than the width.
double shrinkOf(const PaintedTable& table, const Theme& theme, int width) {
  const std::vector<int> least = leastWidths(table, theme);
  return std::min(1.0, double(width) / std::max(1, std::accumulate(least.begin(), least.end(), 0)));
}

/// The left edges of the columns, and the right edge of the last. Widths follow the shares, but no column is
/// narrower than it needs while another has more than it needs.
std::vector<int> edgesOf(const PaintedTable& table, const Theme& theme, int width) {
  const std::size_t columns = table.shares.size();
  const std::vector<int> least = leastWidths(table, theme);
  const int needed = std::accumulate(least.begin(), least.end(), 0);
  std::vector<int> widths(columns, 0);
  std::vector<bool> isLeast(columns, needed > width);
  // Columns with a too small share get the width that they need, and the others share the rest. These steps
  // repeat until every share is large enough.
  for (bool settled = false; !settled;) {
    settled = true;
    int left = width;
    int shares = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      if (isLeast[c])
        left -= least[c];
      else
        shares += table.shares[c];
    }
    for (std::size_t c = 0; c < columns; ++c) {
      widths[c] = isLeast[c] ? least[c] : left * table.shares[c] / std::max(1, shares);
      if (isLeast[c] || widths[c] >= least[c]) continue;
      isLeast[c] = true;
      settled = false;
    }
  }
  std::vector<int> edges{0};
  for (const int column : widths) edges.push_back(edges.back() + column);
  if (columns > 0 && needed <= width) edges.back() = width;
  return edges;
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

QString tabbedText(const PaintedTable& table) {
  const auto line = [](const auto& cells, auto text) {
    QStringList texts;
    for (const auto& cell : cells) texts += text(cell);
    return texts.join(QLatin1Char('\t')) + QLatin1Char('\n');
  };
  QString all = line(table.headers, [](const QString& title) { return title; });
  for (const std::vector<PaintedCell>& row : table.rows)
    all += line(row, [](const PaintedCell& cell) { return cell.text; });
  return all;
}

QVariant leadingNumber(const QString& text) {
  static const QRegularExpression number(QStringLiteral("^[+-]?\\d+(\\.\\d+)?"));
  const QRegularExpressionMatch match = number.match(text);
  return match.hasMatch() ? QVariant(match.captured().toDouble()) : QVariant();
}

int paintedTableHeight(const PaintedTable& table, const Theme& theme, int width) {
  const double shrink = shrinkOf(table, theme, width);
  const std::vector<int> edges = edgesOf(table, theme, static_cast<int>(std::ceil(width / shrink)));
  int height = table.headers.empty() ? 0 : kHeader;
  for (const auto& row : table.rows) height += rowHeight(row, edges, theme);
  return static_cast<int>(std::ceil(height * shrink));
}

void paintTable(QPainter& painter, const QRect& area, const PaintedTable& table, const Theme& theme) {
  if (const double shrink = shrinkOf(table, theme, area.width()); shrink < 1) {
    painter.save();
    painter.translate(area.topLeft());
    painter.scale(shrink, shrink);
    paintTable(painter,
               QRect(0, 0, static_cast<int>(std::ceil(area.width() / shrink)),
                     static_cast<int>(std::ceil(area.height() / shrink))),
               table, theme);
    painter.restore();
    return;
  }
  const std::vector<int> edges = edgesOf(table, theme, area.width());
  int y = area.top();
  if (!table.headers.empty()) {
    painter.setFont(theme.smallFont());
    painter.setPen(theme.color(Role::TextThird));
    for (std::size_t c = 0; c < table.headers.size() && c + 1 < edges.size(); ++c) {
      const bool isRight =
          !table.rows.empty() && c < table.rows.front().size() && table.rows.front()[c].isRight;
      const QRect room(area.left() + edges[c] + kPad, y, edges[c + 1] - edges[c] - 2 * kPad, kHeader);
      painter.drawText(room, (isRight ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
                       painter.fontMetrics().elidedText(table.headers[c], Qt::ElideRight, room.width()));
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
                       alignmentOf(row[c]) | Qt::TextWordWrap, row[c].text);
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
  // A scaled table gets a larger width, so that it fills the picture.
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

TableHead::TableHead(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
  setTextElideMode(Qt::ElideRight);
  setSectionsClickable(true);
  setHighlightSections(false);
  setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

void TableHead::initStyleOptionForIndex(QStyleOptionHeader* option, int section) const {
  QHeaderView::initStyleOptionForIndex(option, section);
  // QHeaderView sets the rectangle of the option later.
  QStyleOptionHeaderV2 placed;
  if (const auto* own = qstyleoption_cast<const QStyleOptionHeaderV2*>(option)) placed = *own;
  placed.rect = QRect(0, 0, sectionSize(section), viewport()->height());
  const int room = style()->subElementRect(QStyle::SE_HeaderLabel, &placed, this).width();
  // "run 2 (warm)" becomes "run 2" before letters are cut.
  if (const qsizetype bracket = option->text.indexOf(QLatin1String(" ("));
      bracket > 0 && option->fontMetrics.horizontalAdvance(option->text) > room)
    option->text.truncate(bracket);
  option->text = option->fontMetrics.elidedText(option->text, textElideMode(), std::max(0, room));
}

}  // namespace spanscope::ui
