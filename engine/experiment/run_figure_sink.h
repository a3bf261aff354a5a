// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/run_figures.h"
#include "engine/trace/sink.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// What one measured run came to.
struct RunSample {
  trace::RunFigures figures;
  /// Seconds, of the step that stands last in the plan.
  std::optional<double> lastTimeToFirstToken;
  std::int32_t peakBlocks = 0;  ///< most blocks of the pool that its requests held at once
  std::string answer;
};

/// Keeps what the run in progress says; the session that is measured sends to it. What costs time is done
/// when the run is over.
class RunFigureSink final : public trace::Sink {
 public:
  RunFigureSink();

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

  /// Of the run that has ended since the call before; leaves nothing.
  RunSample take();

 private:
  using Clock = std::chrono::steady_clock;

  void countBlocks(const trace::Payload& payload);

  Clock::time_point m_start;
  std::uint64_t m_sequence = 0;
  std::vector<trace::Event> m_events;  ///< without those about blocks
  std::int32_t m_held = 0;             ///< blocks that somebody refers to
  std::int32_t m_peak = 0;
};

}  // namespace spanscope::experiment
