// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/attention/decode_plan.h"

#include <algorithm>

namespace spanscope::cuda {

namespace {

/// Stretches of a segment up to the last read key.
std::int32_t stretchCount(const SegmentKeys& keys, std::int32_t span) {
  return (keys.end + span - 1) / span;
}

void addMass(const RowRun& run, std::int32_t queryHeads, DecodePlan& plan) {
  MassEntry entry{.firstRow = run.firstRow,
                  .rowCount = run.rowCount,
                  .stretches = 0,
                  .ranges = static_cast<std::int32_t>(run.keys.size()),
                  .firstMass = plan.massElements,
                  .firstFirst = plan.firstElements};
  for (const SegmentKeys& keys : run.keys) entry.stretches += stretchCount(keys, run.massSpan);
  plan.massElements += std::int64_t{queryHeads} * entry.stretches;
  plan.firstElements += std::int64_t{queryHeads} * entry.ranges;
  plan.itemStretches = std::max(plan.itemStretches, (plan.chunkKeys - 1) / run.massSpan + 2);
  plan.masses.push_back(entry);
}

/// Adds the blocks from which a row chooses. Returns the index of block 0 for each segment.
std::vector<std::int32_t> addChoice(const RowRun& run, std::int32_t number, std::int32_t blockSize,
                                    DecodePlan& plan) {
  const std::int32_t local = run.localOf(number);
  const auto placeOf = [&] { return static_cast<std::int32_t>(plan.choiceBlocks.size()); };
  ChoiceRow row{.first = placeOf(), .count = 0, .most = run.mostBlocks};
  std::vector<std::int32_t> firsts;
  for (const SegmentKeys& keys : run.keys) {
    const std::int32_t begin = run.beginOf(keys, local);
    firsts.push_back(placeOf() - begin / blockSize);
    const std::int32_t end = RowRun::endOf(keys, local);
    const std::int64_t distance = run.base - keys.base;
    for (std::int32_t block = begin / blockSize; begin < end && block * blockSize < end; ++block) {
      plan.choiceBlocks.push_back(
          {.row = run.firstRow + number,
           .block = keys.blocks[static_cast<std::size_t>(block)],
           .begin = std::max(begin - block * blockSize, 0),
           .end = std::min(end - block * blockSize, blockSize),
           .rotation = static_cast<std::int32_t>(
               distance + plan.rotations.offsetOf(distance + run.firstLocal) + local)});
    }
  }
  row.count = placeOf() - row.first;
  plan.choiceRows.push_back(row);
  return firsts;
}

void addRow(const RowRun& run, std::int32_t number, std::span<const std::int32_t> firstBlocks,
            std::int32_t blockSize, DecodePlan& plan) {
  const std::int32_t local = run.localOf(number);
  std::int32_t stretch = 0;
  std::vector<std::int32_t> choices;
  if (run.mostBlocks > 0) choices = addChoice(run, number, blockSize, plan);
  for (std::size_t i = 0; i < run.keys.size(); ++i) {
    const SegmentKeys& keys = run.keys[i];
    const std::int32_t end = RowRun::endOf(keys, local + run.growth);
    const std::int64_t distance = run.base - keys.base;
    for (std::int32_t begin = run.beginOf(keys, local); begin < end;) {
      const std::int32_t next = std::min(end, (begin / plan.chunkKeys + 1) * plan.chunkKeys);
      const bool wantsMass = run.massSpan != RowRun::kNoMass;
      plan.items.push_back({.row = run.firstRow + number,
                            .firstBlock = firstBlocks[i],
                            .begin = begin,
                            .end = next,
                            .causal = keys.causal ? 1 : 0,
                            .rotation = static_cast<std::int32_t>(
                                distance + plan.rotations.offsetOf(distance + run.firstLocal)),
                            .massSpan = wantsMass ? run.massSpan : 0,
                            .firstStretch = stretch,
                            .range = begin == keys.begin ? static_cast<std::int32_t>(i) : -1,
                            .firstChoice = choices.empty() ? DecodeItem::kReadsAll : choices[i]});
      begin = next;
    }
    if (run.massSpan != RowRun::kNoMass) stretch += stretchCount(keys, run.massSpan);
  }
}

}  // namespace

DecodePlan planDecode(std::span<const RowRun> runs, std::int32_t rows, std::int32_t chunkKeys,
                      std::int32_t queryHeads, std::int32_t blockSize, std::int64_t keptRotations) {
  DecodePlan plan;
  plan.chunkKeys = chunkKeys;
  plan.locals.assign(static_cast<std::size_t>(rows), 0);
  std::vector<const RowRun*> runOfRow(static_cast<std::size_t>(rows), nullptr);
  std::vector<std::vector<std::int32_t>> firstBlocks;
  for (const RowRun& run : runs) {
    std::vector<std::int32_t>& own = firstBlocks.emplace_back();
    for (const SegmentKeys& keys : run.keys) {
      plan.rotations.add(run.base - keys.base + run.firstLocal,
                         std::int64_t{run.lastLocal()} - run.firstLocal + 1 + run.growth);
      own.push_back(static_cast<std::int32_t>(plan.blocks.size()));
      plan.blocks.insert(plan.blocks.end(), keys.blocks.begin(), keys.blocks.end());
    }
    if (run.massSpan != RowRun::kNoMass) addMass(run, queryHeads, plan);
    for (std::int32_t i = 0; i < run.rowCount; ++i) {
      const std::int32_t row = run.firstRow + i;
      runOfRow[static_cast<std::size_t>(row)] = &run;
      plan.locals[static_cast<std::size_t>(row)] = run.localOf(i);
    }
  }
  plan.rotations.close(keptRotations);
  for (std::int32_t row = 0; row < rows; ++row) {
    plan.rowItems.push_back(static_cast<std::int32_t>(plan.items.size()));
    const RowRun* const run = runOfRow[static_cast<std::size_t>(row)];
    if (run != nullptr)
      addRow(*run, row - run->firstRow, firstBlocks[static_cast<std::size_t>(run - runs.data())], blockSize,
             plan);
  }
  plan.rowItems.push_back(static_cast<std::int32_t>(plan.items.size()));
  return plan;
}

}  // namespace spanscope::cuda
