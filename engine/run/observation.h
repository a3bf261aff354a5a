// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the attention events of the trace from the backend's sums of attention weights. Limits how much
// attention a run records. Open this file to change the form, the limit or the level of detail of recorded
// attention.
#pragma once

#include "engine/compute/backend.h"
#include "engine/layout/span_table.h"
#include "engine/model/decoder.h"
#include "engine/trace/event.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace spanscope::run {

/// Max bytes of attention that a run records by default.
inline constexpr std::uint64_t kAttentionBytes = 64ULL << 20;

/// Passes events on, and limits the attention events of each run. When half of the limit is used, only every
/// second observed layer is recorded. When half of the rest is used, only every fourth layer is recorded, and
/// so on. In the end only the last layer is recorded, so that later requests still have some attention. The
/// trace reports what was left out. The events of a replay are not limited; the caller must limit these
/// events.
class AttentionLimit final : public trace::Sink {
 public:
  /// `sink` must outlive this object.
  explicit AttentionLimit(trace::Sink& sink) : m_sink(sink) {}

  /// Starts to limit the attention of the run. `layers` are the layers that the run observes. `limit` is the
  /// max number of bytes of its attention in memory.
  void begin(RunId run, std::vector<std::int32_t> layers, std::uint64_t limit);
  /// Ends the limit of the run. If something was left out, reports it to the trace.
  void end(RunId run);

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

 private:
  /// The attention that one run may still record.
  class Room {
   public:
    Room(std::vector<std::int32_t> layers, std::uint64_t limit);

    /// Whether the event is recorded. Removes from `looked` the layers that are left out.
    bool takes(const trace::AttentionMass& mass);
    bool takes(trace::SegmentAttention& looked);
    bool takes(trace::PartAttention& looked);

    trace::AttentionLeftOut leftOut;

   private:
    template <class Attention>
    bool takesLayers(Attention& looked, std::size_t keys);
    bool takesBytes(std::uint64_t bytes);
    void spare();
    bool isKept(std::int32_t layer) const;

    std::vector<std::int32_t> m_layers;  ///< the observed layers, ascending
    std::uint64_t m_left = 0;            ///< bytes that the run may still record
    std::size_t m_step = 1;              ///< one of N layers is recorded, counted from the last
    std::int32_t m_lastLayer = -1;       ///< layer of the last event about a single layer; −1: none yet
  };

  void report(RunId run, const Room& room);

  trace::Sink& m_sink;
  std::map<RunId, Room> m_rooms;
};

// Level of detail of recorded attention.

/// In longer prompts, attention is recorded for key blocks only. Attention to single keys takes memory that
/// grows with the square of the tokens.
inline constexpr std::int64_t kMostTokensForSingleKeys = 1024;

/// The rows and keys whose attention is recorded.
enum class AttentionDetail : std::uint8_t {
  /// Only the rows from which tokens of the answer are sampled. Attention to segments is recorded by layer
  /// and head. Attention to key blocks is recorded as the mean over layers and heads.
  Answer,
  Prompt,  ///< As Answer, and also the rows of the prompt, by query block.
  Heads    ///< Attention of all rows to segments and to key blocks, by layer and head: a lot of data.
};

/// A query run for which a forward pass computes attention mass. The run has some or all rows of one query
/// block of one request.
struct ObservedRun {
  std::uint32_t run = 0;     ///< index of the query run in the forward pass
  std::size_t part = 0;      ///< index of the entry for these rows in the list of parts of the forward pass
  std::int32_t begin = 0;    ///< first position in the segment
  std::int32_t count = 0;    ///< rows
  std::int32_t keySpan = 0;  ///< as in compute::MassRequest
  bool tellsParts = false;   ///< attention to the sections of the prompt is reported
  bool onlyForParts =
      false;  ///< single keys are computed only for the sums by section; the events are by key block
  bool joinsPrevious = false;  ///< shares an event with the previous run, which has the same query block
  std::int32_t answer = -1;  ///< index of the answer's token that is sampled from this single row; −1: none
};

/// One observed run, or two consecutive runs of one query block.
struct ObservedRows {
  ObservedRun rows;        ///< the first run, but with the rows of both runs
  std::size_t first = 0;   ///< index of the first run in the list of observed runs
  std::size_t number = 1;  ///< number of runs
};

/// The place of a query block, and the segments that its rows attend to.
struct QueryPlace {
  std::uint32_t segment = 0;
  std::span<const std::uint32_t> sees;  ///< segments that the rows attend to before their own segment
  std::int32_t blockSize = 0;
  const layout::SpanTable* table = nullptr;  ///< never null
};

/// Whether `segment`, or a segment that `segment` attends to, has tokens of more than one section.
bool seesSeveralParts(const layout::SpanTable& table, std::uint32_t segment);

/// Returns the attention of a row to each section of the prompt, by layer and head. A token is sampled from
/// the row. Attention to single keys must have been requested. Reports the layers of `mass` that are in
/// `layers`.
trace::PartAttention partAttention(const QueryPlace& place, const ObservedRows& observed,
                                   std::span<const std::int32_t> layers,
                                   std::span<const model::LayerMass> mass);

/// Adds up the mass of single keys to key blocks.
compute::RunMass byBlock(const compute::RunMass& run, std::int32_t blockSize);

/// Returns the attention of the rows to each segment, by layer and head. Reports the layers of `mass` that
/// are in `layers`. With `singleRow`, the rows are one row, and the event names that row.
trace::SegmentAttention segmentAttention(const QueryPlace& place, const ObservedRows& observed,
                                         bool singleRow, std::span<const std::int32_t> layers,
                                         std::span<const model::LayerMass> mass);

/// Returns the attention of the rows to key blocks, as the mean over these layers and all heads.
trace::AttentionMass meanMass(const QueryPlace& place, const ObservedRows& observed, bool singleRow,
                              std::span<const std::int32_t> layers, std::span<const model::LayerMass> mass);

/// Returns the attention of the rows to key blocks, in one layer and by head. `singleRow`: the rows are a
/// single row that a replay requested.
trace::AttentionMass massEvent(const QueryPlace& place, const ObservedRows& observed, bool singleRow,
                               std::int32_t heads, const model::LayerMass& mass);

/// Returns the attention mass of one row by segment of the table, as the mean over heads and over `layers`.
/// `part` and `local` choose the row. Empty unless the row was observed in a run of its own.
std::vector<float> segmentMass(std::size_t segments, std::span<const std::uint32_t> sees,
                               std::uint32_t segment, std::span<const ObservedRun> observed, std::size_t part,
                               std::int32_t local, std::span<const model::LayerMass> mass,
                               std::span<const std::int32_t> layers);

}  // namespace spanscope::run
