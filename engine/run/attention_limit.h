// SPDX-License-Identifier: GPL-3.0-or-later
// Limits how much attention a run records. Open this file to change the limit or the level of detail.
#pragma once

#include "engine/trace/event.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::run {

/// Max bytes of attention that a run records by default.
inline constexpr std::uint64_t kAttentionBytes = 64ULL << 20;

/// Passes events on, and limits the attention events of each run. When half of the limit is used, only every
/// second observed layer is recorded. When half of the rest is used, only every fourth layer is recorded, and
/// so on. In the end only the last layer is recorded, so that later requests still have some attention. The
/// trace reports what was left out. The events of a replay are not limited; the caller must do that.
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

    /// Whether the event is recorded. Removes the layers that are left out from `looked`.
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

// The level of detail of recorded attention.

/// In longer prompts, attention is recorded for key blocks only. Attention to single keys takes memory that
/// grows with the square of the tokens.
inline constexpr std::int64_t kMostTokensForSingleKeys = 1024;

/// The observed rows and keys that are recorded.
enum class AttentionDetail : std::uint8_t {
  /// Only the rows from which tokens of the answer are sampled. Attention to segments is recorded by layer
  /// and head. Attention to key blocks is recorded as the mean over layers and heads.
  Answer,
  Prompt,  ///< The same, and also the rows of the prompt, by query block.
  Heads    ///< All rows: segments and key blocks, both by layer and head. This is a lot of data.
};

}  // namespace spanscope::run
