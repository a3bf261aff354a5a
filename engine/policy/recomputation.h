// SPDX-License-Identifier: GPL-3.0-or-later
// Shared code of policies that recompute some stored tokens: their parameters, the span table with copies of
// segments, and the compute plan of such a table. Open this file to change `blend` or `relay`.
#pragma once

#include "engine/base/translation.h"
#include "engine/layout/span_table.h"
#include "engine/policy/compute_plan.h"
#include "engine/policy/policy.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::policy {

/// The number of copied rows that are recomputed, and how they are chosen.
struct Recomputation {
  double share = 0;  ///< share of the rows, 0 … 1, rounded down to whole rows.
  /// The check layer: the first layer that leaves rows out. All earlier layers compute all rows.
  std::int32_t layer = 0;
  /// The number of layers that leave rows out, from the check layer on. Each of these layers leaves out the
  /// same fraction of the remaining rows.
  std::int32_t steps = 1;
  compute::StoredPart by = compute::StoredPart::Keys;  ///< the part that is compared with the stored part

  bool operator==(const Recomputation&) const = default;
};

inline constexpr std::array<const char*, 2> kDeviatingParts{"keys", "values"};

// The parameters after the share, in this order.

inline constexpr Parameter kCheckLayer = {
    .name = "layer",
    .label = forTranslation("Policies", "check layer"),
    .help =
        forTranslation("Policies", "Layer that chooses tokens, from 0. Earlier layers compute all tokens"),
    .standard = 1,
    .least = 0,
    .most = 10'000,
    .isWhole = true};

inline constexpr Parameter kDeviationOf = {
    .name = "by",
    .label = forTranslation("Policies", "by deviation of"),
    .help = forTranslation("Policies",
                           "Compare keys (as LMCache) or values (as CacheBlend's code) with the stored ones"),
    .standard = 0,
    .words = kDeviatingParts};

inline constexpr Parameter kFilteringLayers = {
    .name = "steps",
    .label = forTranslation("Policies", "layers that filter"),
    .help = forTranslation("Policies",
                           "Number of layers that leave out tokens until the share is reached. The first of "
                           "these layers is the check layer"),
    .standard = 1,
    .least = 1,
    .most = 10'000,
    .isWhole = true};

/// Reads the values of a share and of the three parameters above.
Recomputation recomputationOf(std::span<const double> values);

/// Like Policy::expectedOn, for such values. If all rows are recomputed, no layer chooses rows, and every
/// model can run.
std::optional<std::string> expectedOfRecomputation(std::span<const double> values, std::int32_t layers);

/// Returns for each segment of a table the hidden segment that it copies, or nothing. The copied segment is
/// the nearest earlier segment with the same start position, tokens, scope and visible range.
std::vector<std::optional<std::uint32_t>> copiesIn(const layout::SpanTable& table);

/// Returns the table without copies. The copied segments are visible in the place of the copies.
layout::SpanTable withoutCopies(const layout::SpanTable& table);

/// The set of rows from which the recomputed rows are chosen.
enum class ChosenAmong : std::uint8_t {
  AllCopies,  ///< the rows of all copies together; the copies are consecutive in the table
  EachCopy    ///< the rows of each copy separately
};

/// Makes the compute plan of a table with copies. Joint segments are the copies, all segments that attend to
/// a joint segment, and the last segment. For a table without copies, returns the default plan.
ComputePlan planOfCopies(const layout::SpanTable& table, const Recomputation& recomputation,
                         ChosenAmong among);

}  // namespace spanscope::policy
