// SPDX-License-Identifier: GPL-3.0-or-later
// What the policies share that compute some stored tokens again: their parameters, the span table with copies
// of segments, and the row plan of such a table.
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
  double share = 0;  ///< share of the rows, 0 … 1, rounded down to whole rows
  /// The check layer: the first layer that leaves rows out. All layers before it compute all rows.
  std::int32_t layer = 0;
  /// How many layers leave rows out, from the check layer on. Each leaves out rows by the same ratio.
  std::int32_t steps = 1;
  compute::StoredPart by = compute::StoredPart::Keys;  ///< the part that is compared with the stored one

  bool operator==(const Recomputation&) const = default;
};

inline constexpr std::array<const char*, 2> kDeviatingParts{"keys", "values"};

// The parameters that follow the share, in this order.

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

/// Reads the values of a share and of the three parameters above.
Recomputation recomputationOf(std::span<const double> values);

/// As Policy::expectedOn, for such values. If all rows are computed again, no layer chooses rows, and every
/// model can run.
std::optional<std::string> expectedOfRecomputation(std::span<const double> values, std::int32_t layers);

/// For each segment of a table, the hidden segment that it is a copy of; nothing if it is no copy. The hidden
/// segment is the nearest earlier one with the same base, the same tokens, the same scope and the same
/// visible part.
std::vector<std::optional<std::uint32_t>> copiesIn(const layout::SpanTable& table);

/// The table without copies: the copied segments are visible in their place.
layout::SpanTable withoutCopies(const layout::SpanTable& table);

/// Among which rows the recomputed ones are chosen.
enum class ChosenAmong : std::uint8_t {
  AllCopies,  ///< among the rows of all copies together; the copies follow each other in the table
  EachCopy    ///< among the rows of each copy by itself
};

/// The row plan of a table with copies. The copies are joint, and so are every segment that sees a joint one,
/// and the last segment. Without copies, this is the default plan.
RowPlan planOfCopies(const layout::SpanTable& table, const Recomputation& recomputation, ChosenAmong among);

}  // namespace spanscope::policy
