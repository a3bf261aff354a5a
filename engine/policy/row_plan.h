// SPDX-License-Identifier: GPL-3.0-or-later
// The row plan: what a policy says of the rows of a step. It says which rows are computed, in which layers,
// which keys they read, what of them may be stored and found, and what the trace is told of them. The
// scheduler carries it out and knows no policy.
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
  /// An earlier, hidden segment with the same tokens and the same visible part. This segment's keys and
  /// values begin as a copy of that segment's; only its visible rows are computed, in view of what this
  /// segment sees. Such a segment is joint.
  std::optional<std::uint32_t> copyOf{};
  /// The segment depends on rows that are chosen while they are computed. All joint segments of a request are
  /// computed whole and in one pass, after all others, and belong to the request alone: nothing of them is
  /// looked up or stored.
  bool isJoint = false;
  /// Of a copy: the group whose rows are chosen together (Narrowing::kept), from 0. The segments of a group
  /// follow each other in the table.
  std::uint32_t group = 0;
};

/// A layer in which rows are left out of the joint pass: those whose keys or values differ least from the
/// stored ones (compute/narrowing.h). A row that is left out keeps its stored keys and values from this layer
/// on.
struct Narrowing {
  std::int32_t layer = 0;
  std::vector<std::int32_t> kept;  ///< rows that go on, by group
};

/// The default is a plan in which every row is computed in every layer, reads all that its segment sees and
/// what stands before it in its segment, and may be found by others.
struct RowPlan {
  std::vector<SegmentRows>
      segments{};  ///< one for each segment of the table, or empty where all are as the default
  std::vector<Narrowing> narrowings{};                           ///< ascending by layer
  compute::StoredPart comparedPart = compute::StoredPart::Keys;  ///< of rows that may be left out
  std::int32_t checkLayer = 0;  ///< first layer in which rows may be left out: what the trace says of copies
  /// How generated rows read, where that is another way than the default. Keys and values of generated tokens
  /// then differ from those that the same tokens have elsewhere, and belong to the request alone. Null: the
  /// default.
  std::shared_ptr<const ReplyRows> reply{};

  bool isJoint(std::size_t segment) const { return !segments.empty() && segments[segment].isJoint; }
  std::optional<std::uint32_t> copyOf(std::size_t segment) const {
    return segments.empty() ? std::nullopt : segments[segment].copyOf;
  }
};

}  // namespace spanscope::policy
