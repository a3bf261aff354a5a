// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::run {

/// Bytes of attention that a run records, unless it is told otherwise.
inline constexpr std::uint64_t kAttentionBytes = 64ULL << 20;

/// Passes events on, and of a run's attention only as much as its limit allows. As the room grows scarce,
/// layers are left out evenly: with half of it gone every second observed layer is recorded, with half of the
/// rest gone every fourth, and so on to the last layer alone, so that later requests are not without any. The
/// trace is told what was left out. What a replay sends is for its caller to bound.
class AttentionLimit final : public trace::Sink {
 public:
  /// The sink must outlive it.
  explicit AttentionLimit(trace::Sink& sink) : m_sink(sink) {}

  /// Attention from here on is that of the run, at these layers, and may take so many bytes in memory.
  void begin(RunId run, std::vector<std::int32_t> layers, std::uint64_t limit);
  /// The run has ended: says what was left out of it, if anything was.
  void end();

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

 private:
  bool takes(const trace::AttentionMass& mass);
  bool takes(trace::SegmentAttention& looked);
  bool takesBytes(std::uint64_t bytes);
  void spare();
  bool isKept(std::int32_t layer) const;
  void report();

  trace::Sink& m_sink;
  RunId m_run = 0;
  std::vector<std::int32_t> m_layers;  ///< ascending
  std::uint64_t m_limit = 0;
  std::uint64_t m_left = 0;       ///< bytes
  std::size_t m_step = 1;         ///< of the layers that are recorded, counted from the last
  std::int32_t m_lastLayer = -1;  ///< of the attention that came last
  std::uint64_t m_recorded = 0;
  std::uint64_t m_leftOut = 0;
};

}  // namespace spanscope::run
