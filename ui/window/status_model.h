// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/view_input.h"

#include <QString>

#include <cstdint>
#include <optional>

namespace spanscope::ui {

/// What the status line says of the newest run of the document that has begun by the position, each figure
/// from its events and as everywhere else.
struct StatusModel {
  RunId run = 0;  ///< 0: nothing has run
  std::optional<trace::RunOutcome> outcome;
  std::int64_t read = 0;    ///< tokens of prompts that were found or computed, of steps that read theirs now
  std::int64_t toRead = 0;  ///< tokens that those prompts have; 0: no step reads its prompt
  std::size_t event = 0;    ///< the state is that after so many events …
  std::size_t events = 0;   ///< … of so many; 0: the newest is shown
  bool isOfSteps = false;   ///< several, so that latencies are medians
  double timeToFirstToken = 0;  ///< seconds, median over its steps; 0: not yet
  RunId previous = 0;           ///< the run before of the same document on the same model; 0: there is none
  double previousTimeToFirstToken = 0;  ///< of it; 0: none
  double interTokenLatency = 0;         ///< seconds, median over its steps; 0: none made two tokens
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;
  std::size_t blocksInUse = 0;  ///< cached or referenced
  std::size_t blocks = 0;       ///< without the null block
  std::int32_t blockSize = 0;   ///< 0: no session yet
  bool operator==(const StatusModel&) const = default;
};

StatusModel makeStatusModel(const ViewInput& input);
/// The model as the left part of the line.
QString statusText(const StatusModel& status);

}  // namespace spanscope::ui
