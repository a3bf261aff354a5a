// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the compute plan: a policy's decisions for the rows of a step. The scheduler executes the plan and
// does not depend on policies. Open this file to let a policy choose rows, keys or events. The plan
// determines:
// - which rows are computed in which layers, and which keys they read;
// - which rows are stored and can be hits;
// - what the trace reports about the rows.
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

// If generated rows do not read all earlier keys, the policy defines which keys these rows read.

/// The state of an answer that is being generated, which the scheduler gives to a policy.
struct Answer {
  RequestId request = 0;
  const layout::SpanTable* table = nullptr;  ///< span table of the prompt; never null
  /// Blocks of the table's last segment, by virtual block. The answer continues that segment. Null if the
  /// request has no blocks.
  const std::vector<BlockId>* blocks = nullptr;
  std::int32_t from = 0;      ///< position in the last segment at which the answer begins
  std::int32_t computed = 0;  ///< tokens of the answer that have keys and values
  std::int32_t wanted = 0;    ///< sampled tokens of the answer that have keys and values, or will have them
};

/// Defines the keys that generated rows read. A team is a group of requests that generate together. The
/// functions take the answers of a team, in team order. `own` is the index of the answer in question. For a
/// request without a team, the list has only its answer.
///
/// The base class is the default: generated rows read the same keys as all other rows.
class AnswerRows {
 public:
  virtual ~AnswerRows() = default;
  AnswerRows() = default;
  AnswerRows(const AnswerRows&) = delete;
  AnswerRows& operator=(const AnswerRows&) = delete;

  /// Returns the indices of the answers whose next row belongs to the team's next step, ascending. Every row
  /// of a step may read the keys that the other rows of that step store.
  virtual std::vector<std::size_t> next(std::span<const Answer> answers) const;

  /// Returns the position of a row in the view of its answer. `row` is counted from the answer's first row.
  virtual std::int64_t positionOf(std::span<const Answer> answers, std::size_t own, std::int32_t row) const;

  /// Adds the keys that rows [row, row + count) of an answer read. The added keys come after the keys of the
  /// earlier segments. Also sets the other fields of `run` that reading needs. `run` has the start position
  /// of the last segment. For a member of a team, `count` is 1.
  virtual void addKeys(compute::QueryRun& run, std::span<const Answer> answers, std::size_t own,
                       std::int32_t row, std::int32_t count) const;

  /// Joins the key ranges of addKeys() in the attention mass of one row. One range remains for each of the
  /// `sees` segments, and one for the row's own segment. Returns the mass of each removed range, summed over
  /// all heads.
  virtual std::vector<double> joinMass(compute::RunMass& mass, std::size_t sees) const;

  /// Returns the event for the row from which token `index` of an answer was sampled, or nothing. `shares`
  /// are the means of the result of joinMass() over heads and observed layers.
  virtual std::optional<trace::Payload> report(std::int32_t index, std::span<const Answer> answers,
                                               std::size_t own, std::span<const float> shares) const;
};

/// How the rows of one segment of a span table are computed.
struct SegmentRows {
  /// The segment that this one copies: an earlier, hidden segment with the same tokens and the same visible
  /// range. The keys and values of this segment begin as a copy. Only the visible rows of this segment are
  /// computed. The computed rows attend to everything that this segment attends to. A copy is joint.
  std::optional<std::uint32_t> copyOf{};
  /// Whether the segment depends on rows that are chosen during the computation. All joint segments of a
  /// request are computed whole, in one forward pass, after all other segments. Joint segments belong to the
  /// request alone. Lookups never hit joint segments, and the cache does not store them.
  bool isJoint = false;
  /// For a copy: the number of its group, from 0. The rows of a group are chosen together (Narrowing::kept).
  /// The segments of a group are consecutive in the table.
  std::uint32_t group = 0;
};

/// A layer that leaves rows out of the joint forward pass. The keys or values of these rows differ least from
/// the stored ones (compute/narrowing.h). From this layer on, such a row keeps its stored keys and values.
struct Narrowing {
  std::int32_t layer = 0;
  std::vector<std::int32_t> kept;  ///< by group: number of rows that remain
};

/// By default, every row is computed in every layer. A row reads all keys that its segment attends to, and
/// the earlier tokens of its segment. Other requests may reuse a row.
struct ComputePlan {
  std::vector<SegmentRows> segments{};  ///< one for each segment of the table; empty: all have the default
  std::vector<Narrowing> narrowings{};  ///< ascending by layer
  compute::StoredPart comparedPart = compute::StoredPart::Keys;  ///< decides which rows may be left out
  std::int32_t checkLayer = 0;  ///< first layer that may leave rows out; the trace reports this layer
  /// Chooses the keys that generated rows read. Null: the default keys. With other keys, the keys and values
  /// of generated tokens differ from those of the same tokens elsewhere. Generated tokens then belong to the
  /// request alone.
  std::shared_ptr<const AnswerRows> answer{};

  bool isJoint(std::size_t segment) const { return !segments.empty() && segments[segment].isJoint; }
  std::optional<std::uint32_t> copyOf(std::size_t segment) const {
    return segments.empty() ? std::nullopt : segments[segment].copyOf;
  }
};

}  // namespace spanscope::policy
