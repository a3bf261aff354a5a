// SPDX-License-Identifier: GPL-3.0-or-later
// Records the results of measured runs. Open this file to measure something else in a run.
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
  /// Seconds, for the last step of the plan.
  std::optional<double> lastTimeToFirstToken;
  std::int32_t peakBlocks = 0;  ///< max number of pool blocks in use at the same time
  std::string answer;
};

/// Records the events of the current run, which the measured session sends. Slow work is done after the run.
class RunMetricsSink final : public trace::Sink {
 public:
  RunMetricsSink();

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

  /// Returns the results of the run that ended since the previous call. Call this once per run.
  RunSample take();

 private:
  using Clock = std::chrono::steady_clock;

  void countBlocks(const trace::Payload& payload);

  Clock::time_point m_start;
  std::uint64_t m_sequence = 0;
  std::vector<trace::Event> m_events;  ///< all events except those about blocks
  std::int32_t m_held = 0;             ///< number of blocks that have references
  std::int32_t m_peak = 0;
};

}  // namespace spanscope::experiment
