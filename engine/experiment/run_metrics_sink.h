// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/metrics/run_facts.h"
#include "engine/trace/sink.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// The results of one measured run.
struct RunSample {
  metrics::RunValues measured;
  /// Seconds, of the step that is last in the plan.
  std::optional<double> lastTimeToFirstToken;
  std::int32_t peakBlocks = 0;  ///< max number of pool blocks in use at the same time
  std::string answer;
};

/// Records the events of the running run; the measured session sends them. Slow work waits until the run is
/// over.
class RunMetricsSink final : public trace::Sink {
 public:
  RunMetricsSink();

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

  /// The results of the run that ended since the previous call. They can be taken once.
  RunSample take();

 private:
  using Clock = std::chrono::steady_clock;

  void countBlocks(const trace::Payload& payload);

  Clock::time_point m_start;
  std::uint64_t m_sequence = 0;
  std::vector<trace::Event> m_events;  ///< without events about blocks
  std::int32_t m_held = 0;             ///< number of blocks that have references
  std::int32_t m_peak = 0;
};

}  // namespace spanscope::experiment
