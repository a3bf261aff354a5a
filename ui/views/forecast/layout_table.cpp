// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/forecast/layout_table.h"

#include "ui/views/common/csv_line.h"
#include "ui/views/forecast/forecast_table.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

namespace spanscope::ui {
namespace {

using experiment::LayoutComparison;
using experiment::LayoutRow;

struct Column {
  QString title;
  QString tip;
};

std::vector<Column> columnsOf(bool hasOrder) {
  std::vector<Column> columns{
      {tr("Layout"), tr("How prompts become tokens")},
      {tr("Block"), tr("Tokens a block of the cache")},
      {tr("Tokens"), tr("Of all prompts, as they are laid out")},
      {tr("Pads"), tr("Tokens that only fill up blocks before a marker")},
      {tr("In blocks"), tr("Blocks that pads fill up")},
      {tr("Markers"), tr("Tokens that begin what stands under a plus, or the last child of a cross")},
      {metricShortTitle("cropped-tokens"), metricMeaning("cropped-tokens")},
      {tr("Against exact"), tr("How many more or fewer tokens there are than in the exact layout")},
      {tr("Blocks"), tr("Blocks of the view, those that are filled in part included")},
      {metricShortTitle("computed-tokens"),
       tr("%1 The cache is empty at first.").arg(metricMeaning("computed-tokens"))}};
  if (hasOrder) {
    columns.push_back(
        {tr("Swapped, full"),
         tr("Tokens computed then with the children of every plus in reversed order, where only "
            "full blocks are kept, as servers do")});
    columns.push_back({tr("Swapped"), tr("The same where what does not fill a block is kept as well")});
  }
  return columns;
}

LayoutTableRow rowOf(const LayoutRow& own, bool hasOrder) {
  const trace::LayoutFigures& figures = own.figures;
  const auto number = [](std::int64_t count) { return QString::number(count); };
  LayoutTableRow row;
  row.cells = {QString::fromUtf8(layout::infoOf(own.layout).name), number(own.blockSize)};
  if (own.problem) {
    row.problem = QString::fromStdString(*own.problem);
    return row;
  }
  row.cells << number(figures.tokens) << number(figures.pads) << number(figures.padBlocks)
            << number(figures.markers) << number(figures.cropped)
            << (own.layout == layout::Layout::Exact ? QString()
                                                    : QString::fromStdString(trace::addedText(figures)))
            << number(own.blocks) << rangeText(own.computed);
  if (hasOrder) row.cells << rangeText(own.swappedFull) << rangeText(own.swapped);
  return row;
}

}  // namespace

LayoutTable layoutTable(const ViewInput& input) {
  LayoutTable table;
  table.gap = forecastTable(input, Against::Empty).gap;
  if (!table.gap.isEmpty()) return table;
  if (!input.forecast || !input.forecast->layouts) {
    table.gap = tr("The layouts are being compared …");
    return table;
  }
  const LayoutComparison& comparison = *input.forecast->layouts;
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
          .arg(QString::fromStdString(input.forecast->policy));
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
