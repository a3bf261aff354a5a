// SPDX-License-Identifier: GPL-3.0-or-later
// What policies have in common that compute a share of some stored tokens again: their parameters, the span
// table with copies of segments in it, and the row plan of such a table.
#pragma once

#include "engine/base/translation.h"
#include "engine/layout/span_table.h"
#include "engine/policy/policy.h"
#include "engine/policy/row_plan.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::policy {

/// How many rows of copies are computed again, and how they are chosen.
struct Recomputation {
  double share = 0;  ///< of the rows, 0 … 1, rounded down to whole rows
  std::int32_t layer =
      0;  ///< the check layer: the first one in which rows are left out; before it all are computed
  std::int32_t steps =
      1;  ///< in so many layers, from the check layer on, rows are left out, each time by the same ratio
  compute::StoredPart by = compute::StoredPart::Keys;  ///< what is compared with what is stored

  bool operator==(const Recomputation&) const = default;
};

inline constexpr std::array<const char*, 2> kDeviatingParts{"keys", "values"};

// The parameters behind the share, in this order.

inline constexpr Parameter kCheckLayer = {
    .name = "layer",
    .label = forTranslation("Policies", "check layer"),
    .help = forTranslation(
        "Policies",
        "The layer in which tokens are chosen, from 0; layers before it are computed for all tokens"),
    .standard = 1,
    .least = 0,
    .most = 10'000,
    .isWhole = true};

inline constexpr Parameter kDeviationOf = {
    .name = "by",
    .label = forTranslation("Policies", "by deviation of"),
    .help = forTranslation("Policies",
                           "What is compared with what is stored: keys, as LMCache does, or values, as "
                           "CacheBlend's code does"),
    .standard = 0,
    .words = kDeviatingParts};

inline constexpr Parameter kFilteringLayers = {
    .name = "steps",
    .label = forTranslation("Policies", "layers that filter"),
    .help = forTranslation(
        "Policies",
        "In how many layers, the check layer the first, tokens are left out until the share is reached"),
    .standard = 1,
    .least = 1,
    .most = 10'000,
    .isWhole = true};

/// The values of a share and of the three parameters above.
Recomputation recomputationOf(std::span<const double> values);

/// As Policy::expectedOn, of such values. Where all rows are computed again, none are chosen, in no layer.
std::optional<std::string> expectedOfRecomputation(std::span<const double> values, std::int32_t layers);

/// For each segment of a table the hidden one that it is a copy of: the nearest earlier one at the same
/// place, with the same tokens, of the same scope, of which the same part is visible.
std::vector<std::optional<std::uint32_t>> copiesIn(const layout::SpanTable& table);

/// The table with the copied segments visible in place of their copies.
layout::SpanTable withoutCopies(const layout::SpanTable& table);

/// What is chosen among the rows of copies.
enum class ChosenAmong : std::uint8_t {
  AllCopies,  ///< the share is one of all rows of all copies, which follow each other in the table
  EachCopy    ///< each copy keeps the share of its own rows
};

/// The row plan of a table with copies. Joint are the copies, every segment that sees a joint one, and the
/// last segment. The default plan where the table has no copies.
RowPlan planOfCopies(const layout::SpanTable& table, const Recomputation& recomputation, ChosenAmong among);

}  // namespace spanscope::policy
