// SPDX-License-Identifier: GPL-3.0-or-later
// The recorded attention of a request by query block, its weighted means, and the places where reused blocks
// were stored.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/common/segment_names.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace spanscope::ui {

// A request in which each section of the prompt is a segment. The heat map shows such a request if the
// policy's segments differ from the sections.

/// The places of sections in the real prompt.
struct PartPlaces {
  /// By segment: the places of the segment's tokens, in prompt order.
  std::vector<std::vector<trace::PartRange>> ranges;
  /// By section of the prompt: the segment of the section; none: no token attends to the section.
  std::vector<std::optional<std::uint32_t>> segmentOf;
  std::uint32_t lastSegment = 0;  ///< the real last segment, which the answer continues
  std::int32_t prompt = 0;        ///< prompt tokens of that segment
  bool operator==(const PartPlaces&) const = default;
};

struct PromptByPart {
  /// The segments of this request are the visible sections. The last one is the section that the answer
  /// continues. The request has no blocks.
  trace::RequestState request;
  std::vector<PartName> names;  ///< by segment of `request`
  PartPlaces places;
};

/// Nothing if each visible segment of the request is one section.
std::optional<PromptByPart> promptByPart(const ViewInput& input, RequestId request);

/// Recorded attention of rows from which answer tokens were sampled, by segment of `prompt`. Attention on key
/// blocks is left out, because a block may contain tokens of several sections.
struct RowsByPart {
  std::vector<trace::SegmentAttention> segments;
  std::vector<trace::AttentionMass> keys;  ///< on single keys
  std::vector<const trace::AttentionReplayed*>
      keysReplayed;  ///< by entry of `keys`; null: the run recorded it
};
RowsByPart rowsByPart(const ViewInput& input, RequestId request, const PromptByPart& prompt);

/// The chosen layer and head. None: the mean of all.
struct AttentionChoice {
  std::optional<std::int32_t> layer;
  std::optional<std::int32_t> head;
};

/// The recorded attention of one query block or row, by key block or key token.
struct RecordedMass {
  const trace::AttentionMass* mass = nullptr;
  /// The replay that recomputed `mass` after the run; nullptr: the run recorded `mass`.
  const trace::AttentionReplayed* replayed = nullptr;

  /// The only head of `mass`; −1: all heads, or their mean if the layer is −1.
  std::int32_t head() const { return replayed == nullptr ? -1 : replayed->head; }
  /// Whether `mass` belongs to this choice. A single recomputed layer does not count for the mean of layers.
  bool isAbout(const AttentionChoice& choice) const;
};

/// The attention events of one request up to the input's position, by query block. Recomputed attention
/// belongs to no moment of the run. Such attention counts as soon as the answer is finished. This object
/// points into the trace, so it is valid until the trace grows.
class RecordedRows {
 public:
  RecordedRows(const ViewInput& input, RequestId request);
  /// The same for a prompt by section.
  explicit RecordedRows(RowsByPart rows);
  RecordedRows(const RecordedRows&) = delete;
  RecordedRows& operator=(const RecordedRows&) = delete;

  std::span<const RecordedMass> at(const trace::BlockPlace& place) const;
  std::span<const trace::SegmentAttention* const> segmentsAt(const trace::BlockPlace& place) const;
  const std::vector<std::int32_t>& layers() const { return m_layers; }  ///< ascending
  std::int32_t heads() const { return m_heads; }
  const std::vector<std::uint32_t>& tokenSegments() const { return m_tokenSegments; }  ///< ascending
  /// Whether attention on single keys is known for rows of this segment.
  bool hasSingleKeys(std::uint32_t segment, const AttentionChoice& choice) const;
  /// The number of rows of a segment with known attention, from `firstRow` on.
  struct RowsKnown {
    std::int32_t blocks = 0;
    std::int32_t tokens = 0;
    const trace::AttentionReplayed* replayed = nullptr;  ///< the last replay that computed one of these rows
  };
  RowsKnown rowsKnown(std::uint32_t segment, std::int32_t firstRow, const AttentionChoice& choice) const;
  /// Whether attention is known for rows from which no answer token was sampled.
  bool hasPromptRows(std::uint32_t own, std::int32_t firstAnswerRow) const;

 private:
  void add(const RecordedMass& recorded);
  void add(const trace::SegmentAttention& mass);
  void listWhatIsThere();

  RowsByPart m_byPart;  ///< the data of the rows that do not point into the trace
  std::map<trace::BlockPlace, std::vector<RecordedMass>> m_masses;
  std::map<trace::BlockPlace, std::vector<const trace::SegmentAttention*>> m_segments;
  std::vector<std::int32_t> m_layers;
  std::vector<std::uint32_t> m_tokenSegments;
  std::set<std::int32_t> m_layerSet;
  std::set<std::uint32_t> m_tokenSet;
  std::int32_t m_heads = 0;
};

/// Computes means of attention mass, weighted by the number of query rows of each event. Each row and key
/// segment has its own mean, because segments may come from different kinds of events.
class AttentionSums {
 public:
  /// Returns the column of the first key token of a range of keys; −1: none.
  using ColumnOf = std::function<std::int32_t(std::uint32_t segment, std::int64_t token)>;
  /// Returns whether to add a key segment.
  using Takes = std::function<bool(std::uint32_t segment)>;

  AttentionSums(std::size_t rows, std::size_t columns, std::size_t segments);

  /// Adds an event to a row. `keys` gives the segment of each key range of the event, in the same order.
  /// Returns false if nothing was added: `keys` does not fit, or the event lacks the chosen layer or head.
  bool add(std::size_t row, const RecordedMass& recorded, std::span<const std::uint32_t> keys,
           const AttentionChoice& choice, const ColumnOf& columnOf, const Takes& takes);
  /// The same for an event by segment. `withFirst`: whether first tokens of segments count.
  bool add(std::size_t row, const trace::SegmentAttention& mass, std::span<const std::uint32_t> keys,
           const AttentionChoice& choice, bool withFirst, const ColumnOf& columnOf, const Takes& takes);
  /// Adds the mass of each segment of the prompt, as a mean over layers and heads. Returns false if nothing
  /// was added.
  bool add(std::size_t row, std::span<const float> bySegment, const ColumnOf& columnOf, const Takes& takes);

  bool isKnown(std::size_t row, std::uint32_t segment) const {
    return m_weights[row * m_segments + segment] > 0;
  }
  /// Returns the means, [rows][columns]. `segmentOf` gives the segment of each column.
  std::vector<float> take(std::span<const std::uint32_t> segmentOf) const;

 private:
  float& weight(std::size_t row, std::uint32_t segment) { return m_weights[row * m_segments + segment]; }

  std::size_t m_columns;
  std::size_t m_segments;
  std::vector<float> m_sums;
  std::vector<float> m_weights;  ///< [rows][segments]
};

/// The number of virtual blocks in each segment of a request.
std::vector<std::int32_t> blockCounts(const trace::RequestState& request, std::int32_t blockSize);

/// A virtual block with a cache hit, and its place in the request that stored it.
struct StoredBlock {
  trace::BlockPlace place;
  RunId run = 0;
  RequestId request = 0;
  trace::BlockPlace storedAt;
};
/// Returns the blocks of a request with cache hits, ascending by place. Blocks of unknown origin are left
/// out.
std::vector<StoredBlock> storedBlocks(const ViewInput& input, const trace::Progress& progress,
                                      const trace::RequestState& request);

}  // namespace spanscope::ui
