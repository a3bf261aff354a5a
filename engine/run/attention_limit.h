// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/event.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::run {

/// Most bytes of attention that a run records by default.
inline constexpr std::uint64_t kAttentionBytes = 64ULL << 20;

/// Passes events on, but only as many attention events of each run as the limit of the run allows. As the
/// room becomes scarce, layers are left out evenly: when half of it is used, every second observed layer is
/// recorded, when half of the rest is used, every fourth, and so on. In the end only the last layer is
/// recorded, so that later requests still have some attention. The trace is told what was left out. The
/// events of a replay are not limited: the caller must do that.
class AttentionLimit final : public trace::Sink {
 public:
  /// `sink` must outlive this object.
  explicit AttentionLimit(trace::Sink& sink) : m_sink(sink) {}

  /// From here on, the attention of the run is limited. `layers`: the layers that the run observes. `limit`:
  /// most bytes that its attention may take in memory.
  void begin(RunId run, std::vector<std::int32_t> layers, std::uint64_t limit);
  /// The run has ended: tells the trace what was left out of it, if anything was.
  void end(RunId run);

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

 private:
  /// How much attention one run may still record.
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
    std::size_t m_step = 1;              ///< one layer of so many is recorded, counted from the last
    std::int32_t m_lastLayer = -1;       ///< layer of the last event about a single layer; −1: none yet
  };

  void report(RunId run, const Room& room);

  trace::Sink& m_sink;
  std::map<RunId, Room> m_rooms;
};

// How closely attention is recorded.

/// In prompts with more tokens than this, attention is recorded for key blocks only: attention to single keys
/// takes memory that grows with the square of the tokens.
inline constexpr std::int64_t kMostTokensForSingleKeys = 1024;

/// How much of the observed attention is recorded.
enum class AttentionDetail : std::uint8_t {
  /// Only the rows from which tokens of the reply are drawn. Attention to segments is recorded by layer and
  /// head, attention to key blocks as the mean over layers and heads.
  Answer,
  Prompt,  ///< The same, and also the rows of the prompt, by query block.
  Heads    ///< All rows: segments and key blocks, both by layer and head, which is a lot of data.
};

}  // namespace spanscope::run
