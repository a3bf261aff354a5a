// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/narrowing.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>

namespace spanscope::compute {
namespace {

[[noreturn]] void refuse(const std::string& found, const std::string& expected) {
  throw Failure({.file = {}, .place = "narrowing a pass", .found = found, .expected = expected});
}

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

void checkNarrowing(const PassInputs& inputs) {
  if (inputs.keptRows.size() != inputs.runs.size())
    refuse(std::to_string(inputs.keptRows.size()) + " numbers of rows to keep",
           "one for each of " + std::to_string(inputs.runs.size()) + " runs");
  std::int64_t covered = 0;
  for (std::size_t i = 0; i < inputs.runs.size(); ++i) {
    const QueryRun& run = inputs.runs[i];
    if (run.firstRow != covered) refuse("a run that begins elsewhere", "runs that cover the rows in order");
    covered += run.rowCount;
    const std::int32_t kept = inputs.keptRows[i];
    if (kept < 1 || kept > run.rowCount)
      refuse(std::to_string(kept) + " rows to keep", "1 to " + std::to_string(run.rowCount));
    if (kept == run.rowCount) continue;
    for (const auto* list : {&inputs.logitRows, &inputs.hiddenRows}) {
      for (const std::int32_t row : *list) {
        if (row >= run.firstRow && row < covered)
          refuse("the wanted row " + std::to_string(row) + " in a run that loses rows", "one that keeps all");
      }
    }
  }
  if (index(covered) != inputs.tokens.size())
    refuse("runs over " + std::to_string(covered) + " rows", "all " + std::to_string(inputs.tokens.size()));
}

std::vector<std::int32_t> chooseRows(const PassInputs& inputs, std::span<const float> scores) {
  std::vector<std::int32_t> chosen;
  for (std::size_t i = 0; i < inputs.runs.size(); ++i) {
    const QueryRun& run = inputs.runs[i];
    std::vector<std::int32_t> rows(index(run.rowCount));
    std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(run.firstRow));
    const auto kept = rows.begin() + inputs.keptRows[i];
    std::nth_element(rows.begin(), kept, rows.end(), [&](std::int32_t a, std::int32_t b) {
      return scores[index(a)] != scores[index(b)] ? scores[index(a)] > scores[index(b)] : a < b;
    });
    std::sort(rows.begin(), kept);
    chosen.insert(chosen.end(), rows.begin(), kept);
  }
  return chosen;
}

PassInputs narrowed(const PassInputs& inputs, std::span<const std::int32_t> rows) {
  PassInputs out = inputs;
  out.tokens.clear();
  out.localIndices.clear();
  out.slots.clear();
  std::vector<std::int32_t> places(inputs.tokens.size(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = index(rows[i]);
    places[row] = static_cast<std::int32_t>(i);
    out.tokens.push_back(inputs.tokens[row]);
    out.localIndices.push_back(inputs.localIndices[row]);
    out.slots.push_back(inputs.slots[row]);
  }
  std::int64_t first = 0;
  for (std::size_t i = 0; i < out.runs.size(); ++i) {
    out.runs[i].firstRow = first;
    out.runs[i].rowCount = inputs.keptRows[i];
    first += inputs.keptRows[i];
  }
  for (std::int32_t& row : out.logitRows) row = places[index(row)];
  for (std::int32_t& row : out.hiddenRows) row = places[index(row)];
  out.keptRows.clear();
  return out;
}

}  // namespace spanscope::compute
