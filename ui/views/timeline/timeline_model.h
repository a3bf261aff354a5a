// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline of requests: when each waited, loaded blocks, computed its prompt and decoded.
#pragma once

#include "engine/metrics/token_account.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstdint>
#include <vector>

namespace spanscope::ui {

enum class BarKind : std::uint8_t {
  Waiting,
  Loading,  ///< keys and values of the prompt were read from a tier of the span store
  Prefill,
  Decode
};

struct TimelineBar {
  BarKind kind = BarKind::Prefill;
  std::int64_t begin = 0;  ///< nanoseconds as in Event::time
  std::int64_t end = 0;
  std::int64_t tokens = 0;
  std::int64_t passes = 0;  ///< forward passes in the bar; 0 for waiting and loading
  bool fromDisk = false;    ///< Loading: some blocks came from the disk
  bool fromHost = false;    ///< Loading: some blocks came from host memory
  bool operator==(const TimelineBar&) const = default;
};

struct TimelineRow {
  RequestId request = 0;
  RunId run = 0;
  NodePath node;
  QString name;
  std::vector<TimelineBar> bars;  ///< by begin
  std::int64_t admittedAt = -1;   ///< −1: not yet
  metrics::TokenAccount prompt;   ///< how the tokens of its prompt got their keys and values
  std::int64_t firstTokenAt = -1;
  QString waitReason;
  bool failed = false;
  bool operator==(const TimelineRow&) const = default;
};

/// The start of a step that reused blocks of other steps.
struct TimelineStart {
  std::int64_t time = 0;
  RequestId request = 0;
  std::int64_t closures = 0;         ///< number of needed steps whose blocks were cache hits
  std::int64_t relocatedTokens = 0;  ///< relocated tokens of its whole prompt
  QString text;
  bool operator==(const TimelineStart&) const = default;
};

struct TimelineModel {
  std::vector<RunId> runs;  ///< the shown runs, ascending
  std::int64_t begin = 0;   ///< start of the first shown run; the axis counts from here
  std::int64_t end = 0;
  std::vector<TimelineRow> rows;
  std::vector<TimelineStart> starts;
  bool operator==(const TimelineModel&) const = default;
};

/// The timeline of the selected request's run. If no request is selected, the timeline shows the document's
/// newest run. If the document has no run, the timeline shows the newest run of all. `allRuns`: the timeline
/// of all runs.
TimelineModel timelineModel(const ViewInput& input, bool allRuns = false);

QString barName(BarKind kind);
/// "subquery 1 · computing 58 tokens · 61 ms, from 0.20 ms"
QString timelineFacts(const TimelineModel& model, const TimelineRow& row, const TimelineBar& bar);
QString timelineFacts(const TimelineModel& model, const TimelineRow& row);
QString timelineCsv(const TimelineModel& model);

}  // namespace spanscope::ui
