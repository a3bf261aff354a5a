// SPDX-License-Identifier: GPL-3.0-or-later
// Rebuilds the state of a trace after one of its events, as plain values: sessions, runs, requests, the pool.
// Views read this state. Open this file to show more of a trace.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/base/shared.h"
#include "engine/trace/event.h"
#include "engine/trace/pool_replay.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::trace {

/// Place of a virtual block in its request's view.
struct BlockPlace {
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;
  auto operator<=>(const BlockPlace&) const = default;
};

/// One virtual block of a request, as last reported.
struct VirtualBlock {
  BlockId block = kNullBlock;  ///< its physical block; null until it was allocated or shared
  bool allocated = false;      ///< it got a new block; else it shares a hit
  LookupOutcome outcome = LookupOutcome::Miss;
  MissReason reason = MissReason::None;
  std::uint64_t lookup = 0;  ///< sequence number of its BlockLookedUp event, which has more facts; 0: never
                             ///< looked up
  bool operator==(const VirtualBlock&) const = default;
};

enum class RequestPhase : std::uint8_t {
  Started,  ///< not decided yet
  Waiting,  ///< deferred
  Running,  ///< admitted
  Finished
};

/// The reported state of one request. Times are nanoseconds as in Event::time, −1: not yet.
struct RequestState {
  RunId run = 0;
  NodePath node;  ///< of its step
  StepIndex step = 0;
  std::uint32_t copy = 0;
  RequestPhase phase = RequestPhase::Started;
  std::optional<StepOutcome> outcome;  ///< once finished
  std::string waitReason;              ///< of the last deferral
  RequestId waitFor = 0;
  SharedList<SegmentInfo> segments;  ///< its span table, shared with the event that reported it
  SharedMap<BlockPlace, VirtualBlock> blocks;
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;  ///< including relocated hits
  std::int64_t relocatedTokens = 0;
  std::int64_t computedTokens = 0;  ///< rows of prefill chunks so far
  std::int64_t generatedTokens = 0;
  std::int64_t preemptions = 0;        ///< how often it was preempted
  std::int64_t recomputedTokens = 0;   ///< recomputed after a preemption
  std::string text;                    ///< the answer so far; once finished, the whole answer
  std::optional<StepMetrics> metrics;  ///< the engine's own, once reported
  /// The report of the server that answered it, at the end of its answer. Nothing: the engine answers it.
  std::optional<ServerReported> reported;
  std::int64_t startedAt = -1;
  std::int64_t admittedAt = -1;
  std::int64_t firstTokenAt = -1;
  std::int64_t lastTokenAt = -1;
  std::int64_t finishedAt = -1;
  bool complete = true;  ///< false: some events of this request were lost, and blocks and counts may be
                         ///< incomplete
  bool operator==(const RequestState&) const = default;
};

/// The reported state of one run.
struct RunState {
  Shared<std::string> queryJson;
  std::string policy;
  std::uint64_t seed = 0;
  std::map<NodePath, Shared<FragmentsRetrieved>> retrieved;  ///< by augment
  Shared<PlanMade> plan;
  std::vector<RequestId> requests;                   ///< in the order in which they appeared
  std::optional<AttentionLeftOut> attentionLeftOut;  ///< so far
  std::optional<RunOutcome> outcome;                 ///< once finished
  std::string answer;
  std::int64_t startedAt = -1;
  std::int64_t finishedAt = -1;
  bool operator==(const RunState&) const = default;
};

/// Everything except the pool.
struct Progress {
  std::string program;
  std::string model;
  std::string backend;
  std::int32_t threads = 0;
  std::int32_t layers = 0;
  std::vector<std::int32_t> windows;  ///< WindowsReported::windows; empty: no layer has a window
  std::int32_t heads = 0;
  std::uint64_t sequence = 0;  ///< of the last event; 0: none yet
  std::int64_t time = 0;       ///< of the last event
  std::uint64_t lost = 0;      ///< events that snapshots replace
  bool whole = true;           ///< no event is missing since the session started
  bool gap = false;            ///< events are missing and no snapshot has closed the gap: the pool is unknown
  std::int64_t passes = 0;     ///< forward passes
  std::int64_t rows = 0;       ///< rows of all passes
  std::int64_t passTime = 0;   ///< nanoseconds of all passes
  std::uint64_t stored = 0;    ///< BlockStored events
  std::uint64_t evicted = 0;   ///< BlockRemoved events with reason Evicted
  std::uint64_t copied = 0;    ///< BlockCopied events
  std::int64_t preemptions = 0;       ///< RequestPreempted events
  std::int64_t recomputedTokens = 0;  ///< of all resumed requests
  std::uint64_t warnings = 0;         ///< messages of severity Warning
  std::uint64_t errors = 0;           ///< messages of severity Error
  SharedMap<RunId, RunState> runs;
  SharedMap<RequestId, RequestState> requests;
  bool operator==(const Progress&) const = default;
};

/// A copy is cheap for any length of the trace, because it shares unchanged data.
///
/// Applies events one by one, in ascending order of their sequence numbers. A Snapshot may repeat the number
/// of the event before it. A trace may begin anywhere. A request whose start is missing is marked as not
/// complete. Numbers may be left out. After a gap, no event may change the pool until the next Snapshot or
/// SessionStarted.
///
/// The replay checks input from outside, so that views do not have to. Blocks are in the pool. Segments are
/// in the reported span table. `sees` points to earlier segments. Texts and runs fit the tokens. The shape of
/// an attention mass fits its numbers. Counts are not negative. In a complete trace, an event of an unknown
/// request is an error. SegmentMass is not checked against the span table.
class Replay {
 public:
  /// Applies an event. If the event is wrong, or contradicts earlier events, returns the error and changes
  /// nothing. The place of the error names the event.
  std::optional<Error> apply(const Event& event);

  const Progress& progress() const { return m_progress; }
  const PoolReplay& pool() const { return m_pool; }

  /// Returns the approximate memory of the state beside `before`, an earlier state of this trace. Memory that
  /// both share is not counted. Neither is memory that a state shares with its events.
  std::uint64_t bytesBeside(const Replay& before) const;

 private:
  struct Updater;

  Progress m_progress;
  PoolReplay m_pool;
};

}  // namespace spanscope::trace
