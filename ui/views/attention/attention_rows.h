// SPDX-License-Identifier: GPL-3.0-or-later
// The recorded attention of a request by query block, sums over it, and where reused blocks were stored.
#pragma once

#include "ui/session/view_input.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace spanscope::ui {

/// The AttentionMass events of one request up to the input's position, by query block.
class RecordedRows {
 public:
  RecordedRows(const ViewInput& input, RequestId request);

  /// Indices of events.
  std::span<const std::size_t> at(const trace::BlockPlace& place) const;
  const std::vector<std::int32_t>& layers() const { return m_layers; }  ///< ascending
  std::int32_t heads() const { return m_heads; }
  const std::vector<std::uint32_t>& tokenSegments() const { return m_tokenSegments; }  ///< ascending
  /// Whether attention on single keys was recorded for rows of this segment.
  bool hasSingleKeys(std::uint32_t segment) const { return m_singleKeys.contains(segment); }

 private:
  std::map<trace::BlockPlace, std::vector<std::size_t>> m_events;
  std::vector<std::int32_t> m_layers;
  std::vector<std::uint32_t> m_tokenSegments;
  std::set<std::uint32_t> m_singleKeys;
  std::int32_t m_heads = 0;
};

/// Means of attention mass, weighted by the rows that each event stands for.
class AttentionSums {
 public:
  /// The column of a key token, the first of a stretch; −1: none.
  using ColumnOf = std::function<std::int32_t(std::uint32_t segment, std::int64_t token)>;

  AttentionSums(std::size_t rows, std::size_t columns);

  /// `keys`: the segments that the event's key ranges mean here, in their order. False where they do not fit.
  bool add(std::size_t row, const trace::AttentionMass& mass, std::span<const std::uint32_t> keys,
           std::optional<std::int32_t> head, const ColumnOf& columnOf);
  std::vector<float> take() const;  ///< [rows][columns]

 private:
  std::size_t m_columns;
  std::vector<float> m_sums;
  std::vector<float> m_weights;
};

/// A virtual block that was found, and its place in the request that stored it.
struct StoredBlock {
  trace::BlockPlace place;
  RunId run = 0;
  RequestId request = 0;
  trace::BlockPlace storedAt;
};
/// Of a request's blocks, ascending by place; those whose origin the trace does not know are left out.
std::vector<StoredBlock> storedBlocks(const ViewInput& input, const trace::Progress& progress,
                                      const trace::RequestState& request);

}  // namespace spanscope::ui
