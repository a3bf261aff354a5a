// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/decode_step.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace spanscope::cuda {
namespace {

/// A step with more rows has enough work without a graph.
constexpr std::size_t kMostRows = 256;
/// Number of rows that matrix products process together.
constexpr std::int32_t kRowTile = 8;
constexpr std::int32_t kLeastItems = 8;
constexpr std::int64_t kLeastElements = 64;

}  // namespace

bool isDecodeStep(const compute::PassInputs& inputs) {
  const std::size_t rows = inputs.tokens.size();
  if (rows == 0 || rows > kMostRows || inputs.runs.size() != rows) return false;
  if (!inputs.narrowings.empty() || !inputs.hiddenRows.empty() || inputs.logitRows.size() > rows)
    return false;
  for (std::size_t i = 0; i < rows; ++i) {
    const compute::QueryRun& run = inputs.runs[i];
    if (run.firstRow != static_cast<std::int64_t>(i) || run.rowCount != 1) return false;
  }
  for (std::size_t i = 0; i < inputs.draws.size(); ++i) {
    if (inputs.draws[i].logits != static_cast<std::int32_t>(i)) return false;
  }
  return true;
}

std::int32_t paddedRows(std::int32_t rows) {
  if (rows <= kRowTile) return static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(rows)));
  const std::int32_t tile = rows <= 8 * kRowTile ? kRowTile : 4 * kRowTile;
  return (rows + tile - 1) / tile * tile;
}

std::int32_t paddedItems(std::int32_t items) {
  if (items <= kLeastItems) return kLeastItems;
  const auto step = static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(items)) / 8);
  return (items + step - 1) / step * step;
}

std::int64_t paddedElements(std::int64_t elements) {
  const std::int64_t least = std::max(elements, kLeastElements);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(least)));
}

void pad(DecodeWork& decode, std::int32_t rows) {
  DecodePlan& plan = decode.plan;
  const auto items = static_cast<std::int32_t>(plan.items.size());
  decode.rows = std::max(decode.rows, rows - decode.firstRow);
  plan.rowItems = padded(std::move(plan.rowItems), rows + 1, items);
  plan.locals = padded(std::move(plan.locals), rows, 0);
  plan.items = padded(std::move(plan.items), paddedItems(items), DecodeItem());
  plan.blocks =
      padded(std::move(plan.blocks), paddedElements(static_cast<std::int64_t>(plan.blocks.size())), 0);
  if (!plan.choiceRows.empty()) {
    plan.choiceRows = padded(std::move(plan.choiceRows), rows, ChoiceRow());
    const auto blocks = static_cast<std::int64_t>(plan.choiceBlocks.size());
    plan.choiceBlocks = padded(std::move(plan.choiceBlocks), paddedElements(blocks), ChoiceBlock());
  }
  if (plan.masses.empty()) return;
  plan.masses = padded(std::move(plan.masses), rows, MassEntry());
  plan.massElements = paddedElements(plan.massElements);
  plan.firstElements = paddedElements(plan.firstElements);
}

void pad(SplitPlan& split, std::int32_t own, std::int32_t rows, std::int32_t group) {
  if (split.launches.empty()) return;
  PrefillPlan& plan = split.rows;
  const auto ranges = static_cast<std::int32_t>(plan.ranges.size());
  const auto items = static_cast<std::int32_t>(split.items.size());
  plan.locals = padded(std::move(plan.locals), rows, 0);
  // Padding rows get 0. A row that another launch computes gets a tile without pairs.
  const std::int32_t others = own - static_cast<std::int32_t>(plan.runs.size());
  for (std::int32_t row = own - others; row < rows; ++row) {
    const auto run = static_cast<std::int32_t>(plan.runs.size());
    split.tiles.push_back({.run = run, .pairs = row < own ? 0 : group, .firstItem = items});
    plan.runs.push_back({.firstRow = row, .rowCount = 1, .firstRange = ranges});
  }
  plan.ranges = padded(std::move(plan.ranges), paddedItems(ranges), PrefillRange());
  plan.blocks =
      padded(std::move(plan.blocks), paddedElements(static_cast<std::int64_t>(plan.blocks.size())), 0);
  split.items = padded(std::move(split.items), paddedItems(items), SplitItem());
  SplitLaunch& launch = split.launches.front();
  launch.tileCount = static_cast<std::int32_t>(split.tiles.size());
  launch.itemCount = static_cast<std::int32_t>(split.items.size());
  launch.partials = std::int64_t{launch.itemCount} * group;
}

}  // namespace spanscope::cuda
