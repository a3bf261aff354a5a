// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/event.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::run {

/// Bytes of attention that a run records, unless it is told otherwise.
inline constexpr std::uint64_t kAttentionBytes = 64ULL << 20;

/// Passes events on, and of each run's attention only as much as its limit allows. As the room grows scarce,
/// layers are left out evenly: with half of it gone every second observed layer is recorded, with half of the
/// rest gone every fourth, and so on to the last layer alone, so that later requests are not without any. The
/// trace is told what was left out. What a replay sends is for its caller to bound.
class AttentionLimit final : public trace::Sink {
 public:
  /// The sink must outlive it.
  explicit AttentionLimit(trace::Sink& sink) : m_sink(sink) {}

  /// From here on the attention of this run is bounded: it is that of these layers, and may take so many
  /// bytes in memory.
  void begin(RunId run, std::vector<std::int32_t> layers, std::uint64_t limit);
  /// The run has ended: says what was left out of it, if anything was.
  void end(RunId run);

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

 private:
  /// What one run has left.
  class Room {
   public:
    Room(std::vector<std::int32_t> layers, std::uint64_t limit);

    /// False where it is left out, of the layers in `looked` all of them.
    bool takes(const trace::AttentionMass& mass);
    bool takes(trace::SegmentAttention& looked);

    trace::AttentionLeftOut leftOut;

   private:
    bool takesBytes(std::uint64_t bytes);
    void spare();
    bool isKept(std::int32_t layer) const;

    std::vector<std::int32_t> m_layers;  ///< ascending
    std::uint64_t m_left = 0;            ///< bytes
    std::size_t m_step = 1;              ///< of the layers that are recorded, counted from the last
    std::int32_t m_lastLayer = -1;       ///< of the attention that came last
  };

  void report(RunId run, const Room& room);

  trace::Sink& m_sink;
  std::map<RunId, Room> m_rooms;
};

}  // namespace spanscope::run
