// SPDX-License-Identifier: GPL-3.0-or-later
// The row plan: what a policy says of the rows of a step. It says which rows are computed in which layers,
// which keys they read, which rows may be stored and found, and what the trace is told of them. The scheduler
// carries it out and knows no policy.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/backend.h"
#include "engine/compute/pass.h"
#include "engine/layout/span_table.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::policy {

// How the generated rows of a policy read keys, if they do not simply read everything before them.

/// A reply that is being generated, as the scheduler describes it to a policy.
struct Reply {
  RequestId request = 0;
  const layout::SpanTable* table = nullptr;  ///< span table of the prompt; never null
  /// Blocks of the table's last segment, by virtual block. The reply continues that segment. Null if the
  /// request holds no blocks.
  const std::vector<BlockId>* blocks = nullptr;
  std::int32_t from = 0;      ///< local token of the last segment at which the reply begins
  std::int32_t computed = 0;  ///< tokens of the reply that have keys and values
  std::int32_t wanted = 0;    ///< sampled tokens of the reply that have keys and values or are to have them
};

/// The functions take the list of replies that are generated in step, in the order of their places in the
/// team. `own` is the index of the reply that is asked about. A request without a team is the only one in the
/// list.
///
/// The rows of the base class read as all other rows do.
class ReplyRows {
 public:
  virtual ~ReplyRows() = default;
  ReplyRows() = default;
  ReplyRows(const ReplyRows&) = delete;
  ReplyRows& operator=(const ReplyRows&) = delete;

  /// Indices of the replies of a team whose next row belongs to the team's next step, ascending. Every row of
  /// a step may read what the other rows of that step store.
  virtual std::vector<std::size_t> next(std::span<const Reply> replies) const;

  /// Position of a row of a reply in the view of the reply. `row` is counted from the reply's first row.
  virtual std::int64_t positionOf(std::span<const Reply> replies, std::size_t own, std::int32_t row) const;

  /// Adds the keys that rows [row, row + count) of a reply read, behind the keys of the segments that the
  /// last segment sees. Also sets whatever else of the run concerns reading. `run` comes with the base of the
  /// last segment. For a member of a team, a run has one row.
  virtual void addKeys(compute::QueryRun& run, std::span<const Reply> replies, std::size_t own,
                       std::int32_t row, std::int32_t count) const;

  /// `mass` is the attention mass of one reply row by key range, as addKeys() made the ranges. Joins the
  /// ranges so that one is left for each of the `sees` segments, and one for the row's own segment. Returns
  /// the mass of each range that was taken out, summed over all heads.
  virtual std::vector<double> joinMass(compute::RunMass& mass, std::size_t sees) const;

  /// The event for the row from which token `index` of a reply was drawn; nothing if there is none. `shares`
  /// are the means over heads and observed layers of what joinMass() returned.
  virtual std::optional<trace::Payload> tell(std::int32_t index, std::span<const Reply> replies,
                                             std::size_t own, std::span<const float> shares) const;
};

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
