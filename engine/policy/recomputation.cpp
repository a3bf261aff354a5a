// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/recomputation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace spanscope::policy {
namespace {

/// Returns the number of computed rows of a copy.
std::int64_t rowsOf(const layout::Segment& segment) {
  return segment.length() - segment.visibleBegin;
}

}  // namespace

Recomputation recomputationOf(std::span<const double> values) {
  return {.share = values[0],
          .layer = static_cast<std::int32_t>(values[1]),
          .steps = static_cast<std::int32_t>(values[3]),
          .by = values[2] == 0 ? compute::StoredPart::Keys : compute::StoredPart::Values};
}

std::optional<std::string> expectedOfRecomputation(std::span<const double> values, std::int32_t layers) {
  const Recomputation recomputation = recomputationOf(values);
  if (recomputation.share == 1 || recomputation.layer + recomputation.steps <= layers) return std::nullopt;
  return /*id:tokens-chosen-layers*/ "filtering layers from 0 to " + std::to_string(layers - 1) +
         /*id:those-model*/ ", the layers of the model";
}

std::vector<std::optional<std::uint32_t>> copiesIn(const layout::SpanTable& table) {
  using Place = std::tuple<std::int64_t, std::uint32_t, std::int32_t, std::int32_t>;
  std::map<Place, std::vector<std::uint32_t>> hidden;  // in the order of the table
  std::vector<std::optional<std::uint32_t>> copies(table.segments.size());
  for (std::uint32_t i = 0; i < table.segments.size(); ++i) {
    const layout::Segment& segment = table.segments[i];
    std::vector<std::uint32_t>& before =
        hidden[{segment.base, segment.scope, segment.visibleBegin, segment.length()}];
    if (segment.hidden) {
      before.push_back(i);
      continue;
    }
    // The generated tokens continue the last segment, which is no copy.
    if (i + 1 == table.segments.size()) break;
    const auto found = std::find_if(before.rbegin(), before.rend(), [&](std::uint32_t other) {
      return table.segments[other].tokens == segment.tokens;
    });
    if (found != before.rend()) copies[i] = *found;
  }
  return copies;
}

layout::SpanTable withoutCopies(const layout::SpanTable& table) {
  const std::vector<std::optional<std::uint32_t>> copies = copiesIn(table);
  layout::SpanTable result;
  result.cropped = table.cropped;
  std::vector<std::uint32_t> places;  // by segment of the table: index of the segment in the result
  for (std::size_t i = 0; i < table.segments.size(); ++i) {
    if (copies[i]) {
      places.push_back(places[*copies[i]]);
      result.segments[places.back()].hidden = false;
      continue;
    }
    places.push_back(static_cast<std::uint32_t>(result.segments.size()));
    layout::Segment& segment = result.segments.emplace_back(table.segments[i]);
    for (std::uint32_t& seen : segment.sees) seen = places[seen];
  }
  return result;
}

ComputePlan planOfCopies(const layout::SpanTable& table, const Recomputation& recomputation,
                         ChosenAmong among) {
  const std::vector<std::optional<std::uint32_t>> copies = copiesIn(table);
  ComputePlan plan;
  plan.comparedPart = recomputation.by;
  plan.checkLayer = recomputation.layer;
  std::vector<std::int64_t> rows;  // by group
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (!copies[i]) continue;
    plan.segments.resize(copies.size());
    if (rows.empty() || among == ChosenAmong::EachCopy) rows.push_back(0);
    plan.segments[i] = {
        .copyOf = copies[i], .isJoint = true, .group = static_cast<std::uint32_t>(rows.size() - 1)};
    rows.back() += rowsOf(table.segments[i]);
  }
  if (rows.empty()) return plan;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const std::vector<std::uint32_t>& sees = table.segments[i].sees;
    const bool seesJoint =
        std::ranges::any_of(sees, [&](std::uint32_t seen) { return plan.segments[seen].isJoint; });
    plan.segments[i].isJoint = plan.segments[i].isJoint || seesJoint || i + 1 == copies.size();
  }

  const auto kept = [](double share, std::int64_t all) {
    return static_cast<std::int32_t>(std::floor(share * static_cast<double>(all)));
  };
  const bool leavesOut =
      std::ranges::any_of(rows, [&](std::int64_t all) { return kept(recomputation.share, all) < all; });
  for (std::int32_t step = 1; leavesOut && step <= recomputation.steps; ++step) {
    // If the share r of n rows is left after k steps, step i leaves n · r^(i/k) rows.
    const double share = std::pow(recomputation.share, static_cast<double>(step) / recomputation.steps);
    Narrowing& narrowing = plan.narrowings.emplace_back();
    narrowing.layer = recomputation.layer + step - 1;
    for (const std::int64_t all : rows) narrowing.kept.push_back(kept(share, all));
  }
  return plan;
}

}  // namespace spanscope::policy
