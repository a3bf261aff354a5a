// SPDX-License-Identifier: GPL-3.0-or-later
// Rebuilds the state of a trace after any event, as plain values: sessions, runs, requests and the pool.
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

/// The place of a virtual block in its request.
struct BlockPlace {
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;
  auto operator<=>(const BlockPlace&) const = default;
};

/// One virtual block of a request, as last reported.
struct VirtualBlock {
  BlockId block = kNullBlock;  ///< its physical block; the null block until a block is allocated or shared
  bool allocated = false;      ///< a new block was allocated; otherwise a hit is shared
  LookupOutcome outcome = LookupOutcome::Miss;
  MissReason reason = MissReason::None;
  std::uint64_t lookup = 0;  ///< sequence number of its BlockLookedUp event; 0: never looked up
  bool operator==(const VirtualBlock&) const = default;
};

enum class RequestPhase : std::uint8_t {
  Started,  ///< neither admitted nor deferred yet
  Waiting,  ///< deferred
  Running,  ///< admitted
  Finished
};

/// The reported state of one request. Times are nanoseconds as in Event::time; −1: not yet.
struct RequestState {
  RunId run = 0;
  NodePath node;  ///< node of its step
  StepIndex step = 0;
  std::uint32_t copy = 0;
  RequestPhase phase = RequestPhase::Started;
  std::optional<StepOutcome> outcome;  ///< set when the request or run has finished
  std::string waitReason;              ///< reason of the last deferral
  RequestId waitFor = 0;
  SharedList<SegmentInfo> segments;  ///< its span table; memory is shared with the event
  SharedMap<BlockPlace, VirtualBlock> blocks;
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;  ///< including relocated hits
  std::int64_t relocatedTokens = 0;
  std::int64_t computedTokens = 0;  ///< token positions of prefill chunks so far
  std::int64_t generatedTokens = 0;
  std::int64_t preemptions = 0;        ///< number of preemptions
  std::int64_t recomputedTokens = 0;   ///< tokens recomputed after preemptions
  std::string text;                    ///< the answer so far; once finished, the whole answer
  std::optional<StepMetrics> metrics;  ///< metrics of the engine, when reported
  /// The server's report at the end of the answer. Nothing: the engine answers the request.
  std::optional<ServerReported> reported;
  std::int64_t startedAt = -1;
  std::int64_t admittedAt = -1;
  std::int64_t firstTokenAt = -1;
  std::int64_t lastTokenAt = -1;
  std::int64_t finishedAt = -1;
  bool complete = true;  ///< false: events of this request were lost, so blocks and counts may be incomplete
  bool operator==(const RequestState&) const = default;
};

/// The reported state of one run.
struct RunState {
  Shared<std::string> queryJson;
  std::string policy;
  std::uint64_t seed = 0;
  std::map<NodePath, Shared<PassagesRetrieved>> retrieved;  ///< by augment node
  Shared<PlanMade> plan;
  std::vector<RequestId> requests;                   ///< in the order of their first events
  std::optional<AttentionLeftOut> attentionLeftOut;  ///< the last such event
  std::optional<RunOutcome> outcome;                 ///< set when the request or run has finished
  std::string answer;
  std::int64_t startedAt = -1;
  std::int64_t finishedAt = -1;
  bool operator==(const RunState&) const = default;
};

/// The state of a trace, except the pool.
struct Progress {
  std::string program;
  std::string model;
  std::string backend;
  std::int32_t threads = 0;
  std::int32_t layers = 0;
  std::vector<std::int32_t> windows;  ///< WindowsReported::windows; empty: no layer has a window
  std::int32_t heads = 0;
  std::uint64_t sequence = 0;         ///< sequence number of the last event; 0: no event yet
  std::int64_t time = 0;              ///< time of the last event
  std::uint64_t lost = 0;             ///< lost events that snapshots replace
  bool whole = true;                  ///< no event is missing since the session started
  bool gap = false;                   ///< events are missing without a later snapshot, so the pool is unknown
  std::int64_t passes = 0;            ///< forward passes
  std::int64_t rows = 0;              ///< token positions of all forward passes
  std::int64_t passTime = 0;          ///< nanoseconds of all forward passes
  std::uint64_t stored = 0;           ///< BlockStored events
  std::uint64_t evicted = 0;          ///< BlockRemoved events with reason Evicted
  std::uint64_t copied = 0;           ///< BlockCopied events
  std::int64_t preemptions = 0;       ///< RequestPreempted events
  std::int64_t recomputedTokens = 0;  ///< recomputed tokens of all resumed requests
  std::uint64_t warnings = 0;         ///< messages of severity Warning
  std::uint64_t errors = 0;           ///< messages of severity Error
  SharedMap<RunId, RunState> runs;
  SharedMap<RequestId, RequestState> requests;
  bool operator==(const Progress&) const = default;
};

/// The state of a trace. A copy is cheap for a trace of any length, because copies share unchanged data.
///
/// Apply events one by one, in ascending order of their sequence numbers. A Snapshot may repeat the number of
/// the previous event. A trace may begin at any event. A request whose start is missing is marked as
/// incomplete. Numbers may be missing. After a gap, no event may change the pool until the next Snapshot or
/// SessionStarted.
///
/// The replay checks events from outside, so that views do not need checks. The replay ensures that blocks
/// are in the pool, and that segments are in the reported span table. `sees` contains only earlier segments.
/// Texts and runs match the tokens. The shape of an attention mass matches its values. Counts are not
/// negative. In a complete trace, an event of an unknown request is an error. `segmentMass` is not compared
/// with the span table.
class Replay {
 public:
  /// Applies an event. If the event is wrong, or contradicts earlier events, returns the error and changes
  /// nothing. The place of the error names the event.
  std::optional<Error> apply(const Event& event);

  const Progress& progress() const { return m_progress; }
  const PoolReplay& pool() const { return m_pool; }

  /// Returns the approximate memory that this state needs in addition to `before`, an earlier state of this
  /// trace. Memory that both states share does not count. Memory that a state shares with events does not
  /// count.
  std::uint64_t bytesBeside(const Replay& before) const;

 private:
  struct Updater;

  Progress m_progress;
  PoolReplay m_pool;
};

}  // namespace spanscope::trace
