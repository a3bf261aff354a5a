// SPDX-License-Identifier: GPL-3.0-or-later
// The row plan: what a policy says of the rows of a step. It says which rows are computed in which layers,
// which keys they read, which rows may be stored and found, and what the trace is told of them. The scheduler
// carries it out and knows no policy.
#pragma once

#include "engine/compute/backend.h"
#include "engine/policy/reply_rows.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::policy {

/// How the rows of one segment of a span table are computed.
struct SegmentRows {
  /// The segment that this one copies: an earlier, hidden segment with the same tokens and the same visible
  /// part. The keys and values of this segment begin as a copy. Only its visible rows are computed, in view
  /// of what this segment sees. A copy is joint.
  std::optional<std::uint32_t> copyOf{};
  /// Whether the segment depends on rows that are chosen while they are computed. All joint segments of a
  /// request are computed whole and in one pass, after all other segments. They belong to the request alone:
  /// they are neither looked up nor stored.
  bool isJoint = false;
  /// For a copy: the number of its group, from 0. The rows of a group are chosen together (Narrowing::kept).
  /// The segments of a group follow each other in the table.
  std::uint32_t group = 0;
};

/// A layer in which rows are left out of the joint pass: the rows whose keys or values differ least from the
/// stored ones (compute/narrowing.h). From this layer on, such a row keeps its stored keys and values.
struct Narrowing {
  std::int32_t layer = 0;
  std::vector<std::int32_t> kept;  ///< by group: how many rows go on
};

/// By default, every row is computed in every layer. It reads all that its segment sees and what stands
/// before it in its segment, and it may be found by others.
struct RowPlan {
  std::vector<SegmentRows> segments{};  ///< one for each segment of the table; empty: all are as the default
  std::vector<Narrowing> narrowings{};  ///< ascending by layer
  compute::StoredPart comparedPart = compute::StoredPart::Keys;  ///< decides which rows may be left out
  std::int32_t checkLayer = 0;  ///< first layer in which rows may be left out; the trace tells it
  /// How generated rows read, if they do not read as by default. The keys and values of generated tokens then
  /// differ from those that the same tokens have elsewhere, and belong to the request alone. Null: as by
  /// default.
  std::shared_ptr<const ReplyRows> reply{};

  bool isJoint(std::size_t segment) const { return !segments.empty() && segments[segment].isJoint; }
  std::optional<std::uint32_t> copyOf(std::size_t segment) const {
    return segments.empty() ? std::nullopt : segments[segment].copyOf;
  }
};

}  // namespace spanscope::policy
