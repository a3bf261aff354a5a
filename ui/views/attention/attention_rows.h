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

/// Which layers and heads are added up: none is a mean.
struct AttentionChoice {
  std::optional<std::int32_t> layer;
  std::optional<std::int32_t> head;
};

/// What was recorded of one query block or row by key block or key token.
struct RecordedMass {
  const trace::AttentionMass* mass = nullptr;
  const trace::AttentionReplayed* replayed = nullptr;  ///< computed again after the run; nullptr: by the run

  /// The only head it has; −1: all of them, or their mean where the layer is −1.
  std::int32_t head() const { return replayed == nullptr ? -1 : replayed->head; }
  /// Whether it is a part of what is chosen. A layer that was computed again by itself is no mean of layers.
  bool tellsOf(const AttentionChoice& choice) const;
};

/// The attention events of one request up to the input's position, by query block; what was computed again
/// belongs to no moment of the run, and is there as soon as the answer is finished. Points into the trace:
/// valid until that grows.
class RecordedRows {
 public:
  RecordedRows(const ViewInput& input, RequestId request);

  std::span<const RecordedMass> at(const trace::BlockPlace& place) const;
  std::span<const trace::SegmentAttention* const> segmentsAt(const trace::BlockPlace& place) const;
  const std::vector<std::int32_t>& layers() const { return m_layers; }  ///< ascending
  std::int32_t heads() const { return m_heads; }
  const std::vector<std::uint32_t>& tokenSegments() const { return m_tokenSegments; }  ///< ascending
  /// Whether attention on single keys is known for rows of this segment.
  bool hasSingleKeys(std::uint32_t segment, const AttentionChoice& choice) const;
  /// Of how many rows of this segment, from `firstRow` on, attention by key block is known, and of how many
  /// on single keys.
  struct RowsKnown {
    std::int32_t blocks = 0;
    std::int32_t tokens = 0;
    const trace::AttentionReplayed* replayed = nullptr;  ///< the last by which one of them is known
  };
  RowsKnown rowsKnown(std::uint32_t segment, std::int32_t firstRow, const AttentionChoice& choice) const;
  /// Whether there is anything of rows that no token of the answer was drawn from.
  bool hasPromptRows(std::uint32_t own, std::int32_t firstAnswerRow) const;

 private:
  void add(const RecordedMass& recorded);

  std::map<trace::BlockPlace, std::vector<RecordedMass>> m_masses;
  std::map<trace::BlockPlace, std::vector<const trace::SegmentAttention*>> m_segments;
  std::vector<std::int32_t> m_layers;
  std::vector<std::uint32_t> m_tokenSegments;
  std::set<std::int32_t> m_layerSet;
  std::set<std::uint32_t> m_tokenSet;
  std::int32_t m_heads = 0;
};

/// Means of attention mass, weighted by the rows that each event stands for; for each row and key segment by
/// itself, since what is known of a segment may come from another kind of event than its neighbour.
class AttentionSums {
 public:
  /// The column of a key token, the first of a stretch; −1: none.
  using ColumnOf = std::function<std::int32_t(std::uint32_t segment, std::int64_t token)>;
  /// Whether a key segment is to be added.
  using Takes = std::function<bool(std::uint32_t segment)>;

  AttentionSums(std::size_t rows, std::size_t columns, std::size_t segments);

  /// `keys`: the segments that the event's key ranges mean here, in their order. False where nothing
  /// was taken: they do not fit, or the event lacks what is chosen.
  bool add(std::size_t row, const RecordedMass& recorded, std::span<const std::uint32_t> keys,
           const AttentionChoice& choice, const ColumnOf& columnOf, const Takes& takes);
  /// `withFirst`: first tokens of segments count.
  bool add(std::size_t row, const trace::SegmentAttention& mass, std::span<const std::uint32_t> keys,
           const AttentionChoice& choice, bool withFirst, const ColumnOf& columnOf, const Takes& takes);
  /// Mass by segment of the whole prompt, as means over layers and heads. False: nothing was taken.
  bool add(std::size_t row, std::span<const float> bySegment, const ColumnOf& columnOf, const Takes& takes);

  bool isKnown(std::size_t row, std::uint32_t segment) const {
    return m_weights[row * m_segments + segment] > 0;
  }
  /// [rows][columns]; `segmentOf`: of each column.
  std::vector<float> take(std::span<const std::uint32_t> segmentOf) const;

 private:
  float& weight(std::size_t row, std::uint32_t segment) { return m_weights[row * m_segments + segment]; }

  std::size_t m_columns;
  std::size_t m_segments;
  std::vector<float> m_sums;
  std::vector<float> m_weights;  ///< [rows][segments]
};

/// Virtual blocks of each segment of a request.
std::vector<std::int32_t> blockCounts(const trace::RequestState& request, std::int32_t blockSize);

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
