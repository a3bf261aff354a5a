// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/pass.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace spanscope::compute {
namespace {

[[noreturn]] void refuse(const std::string& found, const std::string& expected) {
  throw Failure(
      {.file = {}, .place = "rows that later layers leave out", .found = found, .expected = expected});
}

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

/// Returns the number of rows of a group. `firstRun` is the index of its first run.
std::int64_t rowsOf(const PassInputs& inputs, std::size_t firstRun, const RowGroup& group) {
  std::int64_t rows = 0;
  for (std::size_t i = firstRun; i < firstRun + group.runs; ++i) rows += inputs.runs[i].rowCount;
  return rows;
}

void checkRuns(const PassInputs& inputs) {
  std::int64_t covered = 0;
  for (const QueryRun& run : inputs.runs) {
    if (run.firstRow != covered)
      refuse("a gap or overlap between query runs", "query runs that cover the rows in order");
    covered += run.rowCount;
  }
  if (index(covered) != inputs.tokens.size())
    refuse("runs over " + std::to_string(covered) + " rows",
           "runs over all " + std::to_string(inputs.tokens.size()) + " rows");
}

void checkWanted(const PassInputs& inputs, std::size_t firstRun, const RowGroup& group) {
  const std::int64_t begin = inputs.runs[firstRun].firstRow;
  const std::int64_t end = begin + rowsOf(inputs, firstRun, group);
  for (const auto* list : {&inputs.logitRows, &inputs.hiddenRows}) {
    for (const std::int32_t row : *list) {
      if (row >= begin && row < end)
        refuse("requested row " + std::to_string(row) + " in a group that loses rows",
               "a group that keeps all rows");
    }
  }
  for (const std::uint32_t run : inputs.mass.runs) {
    if (run >= firstRun && run < firstRun + group.runs)
      refuse("requested attention sums of query run " + std::to_string(run) + " in a group that loses rows",
             "a group that keeps all rows");
  }
}

}  // namespace

void checkNarrowing(const PassInputs& inputs) {
  if (inputs.narrowings.empty()) return;
  checkRuns(inputs);
  const std::vector<RowGroup>& groups = inputs.narrowings.front();
  std::size_t runs = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].runs > inputs.runs.size() - runs)
      refuse("groups with more query runs than the forward pass",
             "groups of the " + std::to_string(inputs.runs.size()) + " query runs");
    if (groups[g].runs == 0) refuse("a group without query runs", "at least one query run");
    std::int64_t rows = rowsOf(inputs, runs, groups[g]);
    bool losesRows = false;
    for (const std::vector<RowGroup>& narrowing : inputs.narrowings) {
      if (narrowing.size() != groups.size())
        refuse(std::to_string(narrowing.size()) + " groups",
               std::to_string(groups.size()) + " groups in each narrowing");
      const RowGroup& group = narrowing[g];
      if (group.runs != groups[g].runs)
        refuse("groups that differ from the groups of the first narrowing",
               "the same query runs in each narrowing");
      if (group.kept < 0 || group.kept > rows)
        refuse(std::to_string(group.kept) + " rows to keep", "0 to " + std::to_string(rows));
      losesRows = losesRows || group.kept < rows;
      rows = group.kept;
    }
    if (losesRows) checkWanted(inputs, runs, groups[g]);
    runs += groups[g].runs;
  }
  if (runs != inputs.runs.size())
    refuse("groups of " + std::to_string(runs) + " runs",
           "groups of all " + std::to_string(inputs.runs.size()) + " runs");
}

std::vector<std::int32_t> chooseRows(const PassInputs& inputs, std::span<const float> scores) {
  const auto scoreOf = [&](std::int32_t row) {
    const float score = scores[index(row)];
    return std::isnan(score) ? std::numeric_limits<float>::infinity() : score;
  };
  std::vector<std::int32_t> chosen;
  std::size_t firstRun = 0;
  for (const RowGroup& group : inputs.narrowings.front()) {
    std::vector<std::int32_t> rows(index(rowsOf(inputs, firstRun, group)));
    std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(inputs.runs[firstRun].firstRow));
    const auto kept = rows.begin() + group.kept;
    if (kept != rows.end()) {
      std::nth_element(rows.begin(), kept, rows.end(), [&](std::int32_t a, std::int32_t b) {
        return scoreOf(a) != scoreOf(b) ? scoreOf(a) > scoreOf(b) : a < b;
      });
      std::sort(rows.begin(), kept);
    }
    chosen.insert(chosen.end(), rows.begin(), kept);
    firstRun += group.runs;
  }
  return chosen;
}

PassInputs narrowed(const PassInputs& inputs, std::span<const std::int32_t> rows) {
  PassInputs out = inputs;
  out.tokens.clear();
  out.localIndices.clear();
  out.slots.clear();
  out.runs.clear();
  out.mass.runs.clear();
  out.mass.keySpans.clear();
  std::vector<std::int32_t> places(inputs.tokens.size(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = index(rows[i]);
    places[row] = static_cast<std::int32_t>(i);
    out.tokens.push_back(inputs.tokens[row]);
    out.localIndices.push_back(inputs.localIndices[row]);
    out.slots.push_back(inputs.slots[row]);
  }
  out.narrowings.erase(out.narrowings.begin());
  for (std::vector<RowGroup>& narrowing : out.narrowings) {
    for (RowGroup& group : narrowing) group.runs = 0;
  }
  std::vector<std::int64_t> runPlaces(inputs.runs.size(), -1);
  std::size_t run = 0;
  auto row = rows.begin();
  const std::vector<RowGroup>& groups = inputs.narrowings.front();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t end = run + groups[g].runs; run < end; ++run) {
      const QueryRun& before = inputs.runs[run];
      const auto first = row;
      while (row != rows.end() && *row < before.firstRow + before.rowCount) ++row;
      if (row == first) continue;
      runPlaces[run] = static_cast<std::int64_t>(out.runs.size());
      QueryRun& left = out.runs.emplace_back(before);
      left.firstRow = first - rows.begin();
      left.rowCount = static_cast<std::int32_t>(row - first);
      for (std::vector<RowGroup>& narrowing : out.narrowings) ++narrowing[g].runs;
    }
  }
  // A group without remaining rows stays empty.
  for (std::vector<RowGroup>& narrowing : out.narrowings)
    std::erase_if(narrowing, [](const RowGroup& group) { return group.runs == 0; });
  for (std::size_t i = 0; i < inputs.mass.runs.size(); ++i) {
    out.mass.runs.push_back(static_cast<std::uint32_t>(runPlaces[inputs.mass.runs[i]]));
    if (!inputs.mass.keySpans.empty()) out.mass.keySpans.push_back(inputs.mass.keySpans[i]);
  }
  for (std::int32_t& wanted : out.logitRows) wanted = places[index(wanted)];
  for (std::int32_t& wanted : out.hiddenRows) wanted = places[index(wanted)];
  return out;
}

Narrowing::Narrowing(const PassInputs& inputs) : m_inputs(inputs), m_kept(inputs.tokens.size()) {
  checkNarrowing(inputs);
  std::iota(m_kept.begin(), m_kept.end(), 0);
}

std::vector<std::int32_t> Narrowing::step(std::span<const float> scores) {
  if (m_inputs.narrowings.empty()) refuse("a step after the last narrowing", "one step for each narrowing");
  if (scores.size() != m_inputs.tokens.size())
    refuse(std::to_string(scores.size()) + " scores",
           std::to_string(m_inputs.tokens.size()) + " scores, one for each row");
  std::vector<std::int32_t> chosen = chooseRows(m_inputs, scores);
  m_inputs = narrowed(m_inputs, chosen);
  std::vector<std::int32_t> kept;
  for (const std::int32_t row : chosen) kept.push_back(m_kept[index(row)]);
  m_kept = std::move(kept);
  return chosen;
}

}  // namespace spanscope::compute
