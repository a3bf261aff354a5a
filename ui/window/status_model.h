// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/run_list.h"
#include "ui/session/view_input.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>

namespace spanscope::ui {

/// The content of the status line. The line describes the newest run of the document that has started before
/// the shown time. The values come from the run's events and equal the values in the views.
struct StatusModel {
  RunId run = 0;  ///< 0: there is no such run
  std::optional<trace::RunOutcome> outcome;
  std::size_t failed = 0;       ///< failed steps while the run continues
  bool isPredicted = false;     ///< a cache simulator has predicted the run
  bool anyRan = false;          ///< any document has run in the session
  bool anyKept = false;         ///< the document has runs of earlier sessions
  std::int64_t read = 0;        ///< tokens reused or computed so far, of steps in prefill
  std::int64_t toRead = 0;      ///< all prompt tokens of these steps; 0: no step is in prefill
  std::size_t event = 0;        ///< number of events before the shown time, if an older state is shown
  std::size_t events = 0;       ///< number of all events; 0: the newest state is shown
  bool isOfSteps = false;       ///< the run has several steps, so latencies are medians
  double timeToFirstToken = 0;  ///< seconds, median over its steps; 0: not known yet
  RunBasis basis;
  RunBasis previous;                    ///< the last earlier run of the same document on the same model
  double previousTimeToFirstToken = 0;  ///< seconds; 0: none
  double interTokenLatency = 0;         ///< seconds, median over its steps; 0: no step has made two tokens
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;
  QStringList accountWords;     ///< counts of recomputed, padding and truncated tokens, if any
  std::size_t blocksInUse = 0;  ///< filled blocks at the shown time, or just before the next run if earlier
  std::size_t blocks = 0;       ///< without the null block
  std::int32_t blockSize = 0;   ///< 0: no session yet
  bool operator==(const StatusModel&) const = default;
};

StatusModel makeStatusModel(const ViewInput& input);
/// The text of the left part of the status line.
QString statusText(const StatusModel& status);

}  // namespace spanscope::ui
