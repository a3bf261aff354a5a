// SPDX-License-Identifier: GPL-3.0-or-later
// How the generated rows of a policy read, where they do not simply read everything before them.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/pass.h"
#include "engine/layout/span_table.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::policy {

/// A reply that is being generated, as the scheduler tells a policy of it.
struct Reply {
  RequestId request = 0;
  const layout::SpanTable* table = nullptr;  ///< of the prompt; never null
  /// Of the table's last segment, which the reply continues, by virtual block. Null where the request holds
  /// no blocks.
  const std::vector<BlockId>* blocks = nullptr;
  std::int32_t from = 0;      ///< local token of the last segment at which the reply begins
  std::int32_t computed = 0;  ///< tokens of the reply that have keys and values
  std::int32_t wanted = 0;    ///< tokens of the reply that are to have them, of those that are sampled
};

/// The functions take the replies that are generated in step, in the order of their places in the team, and
/// the index `own` of the one that is asked about. A request without a team stands alone in that list.
///
/// The base class reads as every row does.
class ReplyRows {
 public:
  virtual ~ReplyRows() = default;
  ReplyRows() = default;
  ReplyRows(const ReplyRows&) = delete;
  ReplyRows& operator=(const ReplyRows&) = delete;

  /// Indices of the replies of a team whose next row belongs into the team's next step, ascending. Every row
  /// of a step may read what the other rows of that step store.
  virtual std::vector<std::size_t> next(std::span<const Reply> replies) const;

  /// Position in its view of row `row` of a reply, counted from the reply's first row.
  virtual std::int64_t positionOf(std::span<const Reply> replies, std::size_t own, std::int32_t row) const;

  /// Adds the keys that rows [row, row + count) of a reply read, behind those of the segments that the last
  /// segment sees, and sets what else the run says of reading. The run's base is that of the last segment. A
  /// member of a team has one row a run.
  virtual void addKeys(compute::QueryRun& run, std::span<const Reply> replies, std::size_t own,
                       std::int32_t row, std::int32_t count) const;

  /// Attention mass of one reply row by key range, as addKeys() made them: joins the ranges so that one is
  /// left for each of the `sees` segments and one for the row's own segment. Returns the mass of the ranges
  /// that were taken out, summed over all heads.
  virtual std::vector<double> joinMass(compute::RunMass& mass, std::size_t sees) const;

  /// What the trace is told of the row from which token `index` of a reply was drawn; `shares` are the means
  /// over heads and observed layers of what joinMass() returned.
  virtual std::optional<trace::Payload> tell(std::int32_t index, std::span<const Reply> replies,
                                             std::size_t own, std::span<const float> shares) const;
};

}  // namespace spanscope::policy
