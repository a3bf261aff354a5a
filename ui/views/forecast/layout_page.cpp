// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/forecast/layout_page.h"

#include "ui/views/common/number_text.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/forecast/forecast_table.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QVBoxLayout>

#include <array>
#include <string_view>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kRowHeight = 6 * kSpace;

}  // namespace

LayoutPage::LayoutPage(QWidget* parent)
    : QWidget(parent), m_note(new QLabel(this)), m_widget(new QTableWidget(this)) {
  m_note->setWordWrap(true);
  m_note->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 2 * kSpace);
  m_widget->setAccessibleName(tr("Layouts side by side"));
  showWholeRows(*m_widget, kRowHeight);
  m_widget->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_widget->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  setFocusProxy(m_widget);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_note);
  column->addWidget(m_widget, 1);
}

void LayoutPage::showTable(LayoutTable table, const Theme& theme) {
  if (table == m_table && m_shown == theme) return;
  m_table = std::move(table);
  m_shown = theme;
  m_widget->setStyleSheet(tableStyle(theme));
  // Uses a style sheet, because the window's style sheet would win over a palette.
  m_note->setStyleSheet(
      QStringLiteral("color: %1; font-weight: normal;").arg(theme.color(Role::TextSecond).name()));
  m_note->setFont(theme.smallFont());
  m_note->setText(m_table.note);
  m_widget->clear();
  m_widget->setColumnCount(static_cast<int>(m_table.columns.size()));
  m_widget->setRowCount(static_cast<int>(m_table.rows.size()));
  for (int c = 0; c < m_widget->columnCount(); ++c) {
    auto* title = new QTableWidgetItem(m_table.columns.value(c));
    title->setToolTip(m_table.tips.value(c));
    title->setFont(theme.smallFont());
    title->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    m_widget->setHorizontalHeaderItem(c, title);
  }
  for (int r = 0; r < m_widget->rowCount(); ++r) {
    const LayoutTableRow& row = m_table.rows[static_cast<std::size_t>(r)];
    for (int c = 0; c < m_widget->columnCount(); ++c) {
      QString text = row.cells.value(c);
      if (c == 0 && row.isChosen) text = tr("%1 (chosen)").arg(text);
      if (c == 2 && !row.problem.isEmpty()) text = row.problem;
      auto* item = new QTableWidgetItem(text);
      QFont font = c == 0 ? theme.interfaceFont() : theme.monoFont();
      font.setBold(row.isChosen);
      item->setFont(font);
      item->setForeground(theme.color(Role::Text));
      item->setToolTip(m_table.tips.value(c));
      item->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
      m_widget->setItem(r, c, item);
    }
    if (!row.problem.isEmpty()) m_widget->setSpan(r, 2, 1, m_widget->columnCount() - 2);
  }
  m_widget->resizeColumnsToContents();
  m_widget->horizontalHeader()->setStretchLastSection(false);
}

namespace {

using experiment::LayoutComparison;
using experiment::LayoutRow;

constexpr std::array kLayoutMetrics = {"prompt-tokens",    "padding-tokens", "padding-blocks",
                                       "delimiter-tokens", "cropped-tokens", "added-tokens"};

struct Column {
  QString title;
  QString tip;
};

std::vector<Column> columnsOf(bool hasOrder) {
  std::vector<Column> columns{{tr("Layout"), tr("How prompts become tokens")},
                              {metricShortTitle("block-size"), metricExplanation("block-size")}};
  for (const char* const id : kLayoutMetrics)
    columns.push_back({metricShortTitle(id), metricExplanation(id)});
  columns.push_back({metricShortTitle("blocks"), metricExplanation("blocks")});
  columns.push_back({metricShortTitle("computed-tokens"),
                     tr("%1 The cache is empty at first.").arg(metricExplanation("computed-tokens"))});
  if (hasOrder) {
    columns.push_back({tr("Swapped, full"),
                       tr("%1 A second run has the children of every plus in reversed order. The cache "
                          "keeps full blocks only.")
                           .arg(metricExplanation("computed-tokens"))});
    columns.push_back({tr("Swapped"), tr("The same, but the cache also keeps partial blocks.")});
  }
  return columns;
}

LayoutTableRow rowOf(const LayoutRow& own, bool hasOrder) {
  const auto number = [](std::int64_t count) { return QString::number(count); };
  LayoutTableRow row;
  row.cells = {QString::fromUtf8(layout::infoOf(own.layout).name), number(own.blockSize)};
  if (own.problem) {
    row.problem = QString::fromStdString(*own.problem);
    return row;
  }
  for (const std::string_view id : kLayoutMetrics) {
    const bool isItself = id == "added-tokens" && own.layout == layout::Layout::Exact;
    row.cells << (isItself ? QString() : metricText(id, own.counts));
  }
  row.cells << number(own.blocks) << rangeText(own.computed);
  if (hasOrder) row.cells << rangeText(own.swappedFull) << rangeText(own.swapped);
  return row;
}

}  // namespace

LayoutTable layoutTable(const ViewInput& input) {
  LayoutTable table;
  table.gap = forecastTable(input, Against::Empty).gap;
  if (!table.gap.isEmpty()) return table;
  if (!input.prediction.newest || !input.prediction.newest->layouts) {
    table.gap = tr("The layouts are being compared …");
    return table;
  }
  const LayoutComparison& comparison = *input.prediction.newest->layouts;
  for (const Column& column : columnsOf(comparison.hasOrder)) {
    table.columns << column.title;
    table.tips << column.tip;
  }
  const workbench::RunSettings& settings = input.document->settings;
  for (const LayoutRow& own : comparison.rows) {
    LayoutTableRow row = rowOf(own, comparison.hasOrder);
    row.isChosen = settings.layout == layout::infoOf(own.layout).name && settings.blockSize == own.blockSize;
    table.rows.push_back(std::move(row));
  }
  table.note =
      tr("Policy %1, each with an empty cache. What is exact is so over the tokens of the layout: only "
         "those of the exact one are the chat template's text.")
          .arg(QString::fromStdString(input.prediction.newest->policy));
  if (comparison.hasReplies) table.note += tr(" Replies are taken to be as long as they may be.");
  return table;
}

QString layoutTableCsv(const LayoutTable& table) {
  if (table.rows.empty()) return {};
  QString csv = csvLine(table.columns);
  for (const LayoutTableRow& row : table.rows) csv += csvLine(row.cells);
  return csv;
}

PaintedTable paintedLayouts(const LayoutTable& table) {
  PaintedTable painted;
  for (const QString& column : table.columns) {
    painted.headers.push_back(column);
    painted.shares.push_back(painted.headers.size() == 1 ? 12 : 10);
  }
  for (const LayoutTableRow& row : table.rows) {
    std::vector<PaintedCell>& cells = painted.rows.emplace_back();
    for (qsizetype i = 0; i < table.columns.size(); ++i)
      cells.push_back(
          {.text = row.cells.value(i), .ink = row.isChosen ? Role::Accent : Role::Text, .mono = i > 0});
  }
  return painted;
}

}  // namespace spanscope::ui
