// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/prediction/layout_page.h"

#include "ui/views/common/number_text.h"
#include "ui/views/prediction/prediction_table.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QLabel>
#include <QVBoxLayout>

#include <array>
#include <string_view>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kNameColumns = 2;  ///< columns that name a layout

}  // namespace

LayoutPage::LayoutPage(QWidget* parent)
    : QWidget(parent),
      m_note(new QLabel(this)),
      m_view(new TableView(tr("Layouts side by side"), RowOrder::Sortable, this)),
      m_rows(new PaintedTableModel(this)) {
  m_note->setWordWrap(true);
  m_note->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 2 * kSpace);
  m_view->setModel(m_rows);
  m_view->horizontalHeader()->setStretchLastSection(false);
  connect(m_view->model(), &QAbstractItemModel::layoutChanged, this, &LayoutPage::spanProblems);
  setFocusProxy(m_view);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_note);
  column->addWidget(m_view, 1);
}

void LayoutPage::showTable(LayoutTable table, const Theme& theme) {
  if (table == m_table && m_shown == theme) return;
  m_table = std::move(table);
  m_shown = theme;
  m_view->setTheme(theme);
  m_view->horizontalHeader()->setFont(theme.smallFont());
  // Uses a style sheet, because the window's style sheet would win over a palette.
  m_note->setStyleSheet(
      QStringLiteral("color: %1; font-weight: normal").arg(theme.color(Role::TextSecond).name()));
  m_note->setFont(theme.smallFont());
  m_note->setText(m_table.note);
  m_rows->setTable(paintedLayouts(m_table));
  spanProblems();
  m_view->resizeColumnsToContents();
}

/// Makes each problem span all number columns of its row.
void LayoutPage::spanProblems() {
  m_view->clearSpans();
  for (int r = 0; r < m_rows->rowCount(); ++r) {
    const auto row = static_cast<std::size_t>(m_view->rowOf(m_view->model()->index(r, 0)));
    if (!m_table.rows[row].problem.isEmpty())
      m_view->setSpan(r, kNameColumns, 1, m_rows->columnCount() - kNameColumns);
  }
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
  std::vector<Column> columns{{tr("Layout"), tr("Layout of prompts")},
                              {metricShortTitle("block-size"), metricExplanation("block-size")}};
  for (const char* const id : kLayoutMetrics)
    columns.push_back({metricShortTitle(id), metricExplanation(id)});
  columns.push_back({metricShortTitle("blocks"), metricExplanation("blocks")});
  columns.push_back({metricShortTitle("computed-tokens"),
                     tr("%1 The cache is empty at first.").arg(metricExplanation("computed-tokens"))});
  if (hasOrder) {
    columns.push_back({tr("Swapped, full blocks"),
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
  table.gap = predictionTable(input, Against::Empty).gap;
  if (!table.gap.isEmpty()) return table;
  if (!input.prediction.newest || !input.prediction.newest->layouts) {
    table.gap = tr("Comparing the layouts…");
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
  table.note = tr("Policy %1, each layout with an empty cache. Exact means equal to a full prefill of the "
                  "layout's tokens. Only the exact layout has the text of the chat template.")
                   .arg(QString::fromStdString(input.prediction.newest->policy));
  if (comparison.hasAnswers) table.note += tr(" Every answer is assumed to have its max length.");
  return table;
}

QString layoutTableCsv(const LayoutTable& table) {
  if (table.rows.empty()) return {};
  QString csv = csvLine(table.columns);
  for (const LayoutTableRow& row : table.rows) csv += csvLine(row.cells);
  return csv;
}

PaintedTable paintedLayouts(const LayoutTable& table) {
  PaintedTable painted{.headers = {table.columns.begin(), table.columns.end()},
                       .shares = {},
                       .rows = {},
                       .headerHelps = {table.tips.begin(), table.tips.end()}};
  for (qsizetype i = 0; i < table.columns.size(); ++i) painted.shares.push_back(i == 0 ? 12 : 10);
  for (const LayoutTableRow& row : table.rows) {
    std::vector<PaintedCell>& cells = painted.rows.emplace_back();
    for (qsizetype i = 0; i < table.columns.size(); ++i) {
      QString text = row.cells.value(i);
      if (i == 0 && row.isChosen) text = tr("%1 (chosen)").arg(text);
      if (i == kNameColumns && !row.problem.isEmpty()) text = row.problem;
      cells.push_back({.text = text,
                       .mono = i > 0,
                       .bold = row.isChosen,
                       .isRight = i > 0,
                       .help = table.tips.value(i),
                       .raw = leadingNumber(text)});
    }
  }
  return painted;
}

}  // namespace spanscope::ui
