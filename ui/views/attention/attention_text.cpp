// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/report.h"
#include "ui/views/attention/attention_model.h"
#include "ui/views/common/csv_line.h"
#include "ui/views/common/number_text.h"
#include "ui/words/part_text.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <algorithm>

namespace spanscope::ui {
namespace {

bool isComputedAgain(const AttentionRow& row, std::uint32_t key) {
  return std::find(row.again.begin(), row.again.end(), key) != row.again.end();
}

}  // namespace

QString attentionReadout(const AttentionModel& model, const AttentionOptions& options, std::int32_t row,
                         std::int32_t column) {
  const AttentionSegment* key = model.segmentOfColumn(column);
  if (key == nullptr || row < 0 || static_cast<std::size_t>(row) >= model.rows.size()) return {};
  const AttentionRow& query = model.rows[static_cast<std::size_t>(row)];
  const auto blocks = [](std::int32_t first, std::int32_t count) {
    return count > 1 ? tr("blocks %1–%2").arg(first).arg(first + count - 1) : tr("block %1").arg(first);
  };
  const QString own = model.nameOfRow(row);
  const QString other = model.nameOfColumn(column);
  const auto tokenName = [](const QString& segment, std::int32_t token, const QString& text) {
    return tr("%1 token %2 “%3”").arg(segment).arg(token).arg(text.trimmed());
  };
  QString from = tr("%1 %2").arg(own, blocks(query.block, query.blocks));
  if (query.token >= 0) from = tokenName(own, query.token, query.text);
  if (query.answer >= 0) from = tr("for “%1”").arg(query.text.simplified());
  const std::int32_t keyToken = model.tokenOfColumn(column);
  QString to = other;
  if (keyToken >= 0) {
    to = tokenName(other, keyToken, key->texts[static_cast<std::size_t>(keyToken)]);
  } else if (key->grain != AttentionGrain::Segments) {
    to = tr("%1 %2").arg(other, blocks(model.blockOfColumn(column), model.blocksOfColumn(column)));
  }
  const QString pair = tr("%1 → %2: ").arg(from, to);
  switch (model.states[model.at(row, column)]) {
    case CellState::Blank:
      return pair + tr("not there yet, it comes later");
    case CellState::Forbidden:
      return pair + tr("not visible: the tree keeps them apart");
    case CellState::Outside:
      return pair + tr("outside of the window of %1 positions").arg(model.window.tokens);
    case CellState::Missing:
      return pair +
             (model.leftOut ? tr("not recorded (%1)").arg(leftOutText(*model.leftOut)) : tr("not recorded"));
    case CellState::Measured:
      break;
  }
  const QString layer = options.layer ? tr("layer %1").arg(*options.layer) : tr("mean of layers");
  const QString head = options.head ? tr("head %1").arg(*options.head) : tr("mean of heads");
  QString text = pair + massText(static_cast<double>(model.mass[model.at(row, column)])) +
                 tr(", %1, %2").arg(layer, head);
  if (isComputedAgain(query, key->segment)) text += tr(", computed again after the run");
  if (query.source == RowSource::Earlier) {
    text += query.run == model.run ? tr(", recorded for request %1, reused here").arg(query.request)
                                   : tr(", recorded in run %1, reused here").arg(query.run);
  }
  return text;
}

QString leftOutText(const trace::AttentionLeftOut& leftOut) {
  trace::Event event;
  event.payload = leftOut;
  return eventText(trace::wordsOf(event));
}

QString attentionCsv(const AttentionModel& model) {
  QString text = csvLine({tr("query"), tr("query block"), tr("query token"), tr("key"), tr("key block"),
                          tr("key token"), tr("state"), tr("mass"), tr("recorded in run")});
  for (std::size_t r = 0; r < model.rows.size(); ++r) {
    const AttentionRow& row = model.rows[r];
    for (std::int32_t column = 0; column < model.columns; ++column) {
      const std::size_t cell = model.at(static_cast<std::int32_t>(r), column);
      const CellState state = model.states[cell];
      if (state == CellState::Blank) continue;
      const bool measured = state == CellState::Measured;
      const AttentionSegment& key = *model.segmentOfColumn(column);
      const QString word = measured && isComputedAgain(row, key.segment) ? tr("computed again")
                           : measured                                    ? tr("measured")
                           : state == CellState::Forbidden               ? tr("not visible")
                           : state == CellState::Outside                 ? tr("outside of the window")
                                                                         : tr("not recorded");
      text += csvLine(
          {model.nameOfRow(static_cast<std::int32_t>(r)), QString::number(row.block),
           row.token < 0 ? QString() : QString::number(row.token), model.nameOfColumn(column),
           key.grain == AttentionGrain::Segments ? QString() : QString::number(model.blockOfColumn(column)),
           key.grain == AttentionGrain::Tokens ? QString::number(model.tokenOfColumn(column)) : QString(),
           word, measured ? csvNumber(static_cast<double>(model.mass[cell])) : QString(),
           measured ? QString::number(row.run) : QString()});
    }
  }
  return text;
}

}  // namespace spanscope::ui
