// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_marks.h"

#include <algorithm>

namespace spanscope::ui {
namespace {

bool isSelected(const AttentionRow& row, const trace::BlockPlace& block,
                const std::optional<TokenRef>& token) {
  if (row.segment != block.segment) return false;
  if (row.token < 0) return block.virtualIndex >= row.block && block.virtualIndex < row.block + row.blocks;
  return token && token->segment == row.segment && token->local >= row.token &&
         token->local < row.token + std::max(1, row.answers);
}

bool isSelected(const AttentionModel& model, std::int32_t column, const trace::BlockPlace& block,
                const std::optional<TokenRef>& token) {
  const AttentionSegment& segment = *model.segmentOfColumn(column);
  if (segment.segment != block.segment) return false;
  if (segment.grain == AttentionGrain::Tokens) return token && token->local == model.tokenOfColumn(column);
  const std::int32_t first = model.blockOfColumn(column);
  return block.virtualIndex >= first && block.virtualIndex < first + model.blocksOfColumn(column);
}

/// Marks the section of the selected token, or of the first token of the selected block. Also marks the row
/// of a selected answer token.
void markParts(const AttentionModel& model, const BlockRef& block, const std::optional<TokenRef>& token,
               AttentionMarks& marks) {
  const std::int32_t local = token ? token->local : block.virtualIndex * model.blockSize;
  for (const AttentionSegment& segment : model.segments) {
    for (const trace::PartRange& range : model.byPart->ranges[segment.segment]) {
      const bool isHere = range.segment == block.segment && local >= range.begin && local < range.end;
      if (isHere && segment.columns == 1) marks.column = segment.firstColumn;
    }
  }
  const std::int32_t answer = local - model.byPart->prompt;
  if (!token || block.segment != model.byPart->lastSegment || answer < 0) return;
  for (std::size_t r = 0; r < model.rows.size(); ++r) {
    const AttentionRow& row = model.rows[r];
    if (answer >= row.answer && answer < row.answer + row.answers) marks.row = static_cast<std::int32_t>(r);
  }
}

}  // namespace

AttentionMarks attentionMarks(const AttentionModel& model, const Selection& selection) {
  AttentionMarks marks;
  std::optional<TokenRef> token = selection.token;
  if (token && token->request != model.request) token.reset();
  if (model.byPart && selection.block && selection.block->request == model.request) {
    markParts(model, *selection.block, token, marks);
  } else if (selection.block && selection.block->request == model.request) {
    const trace::BlockPlace block{selection.block->segment, selection.block->virtualIndex};
    for (std::size_t r = 0; r < model.rows.size(); ++r) {
      if (isSelected(model.rows[r], block, token)) marks.row = static_cast<std::int32_t>(r);
    }
    for (std::int32_t column = 0; column < model.columns; ++column) {
      if (isSelected(model, column, block, token)) marks.column = column;
    }
  }
  for (std::size_t i = 0; i < model.parts.size(); ++i) {
    const document::NodeId id = model.parts[i].id;
    if (id != document::kNoNode &&
        std::find(selection.nodes.begin(), selection.nodes.end(), id) != selection.nodes.end())
      marks.parts.push_back(i);
  }
  return marks;
}

}  // namespace spanscope::ui
