// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/replay.h"

#include "engine/base/counted.h"
#include "engine/base/saturated.h"
#include "engine/trace/event_fields.h"
#include "engine/trace/memory_bytes.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::trace {

namespace {

using Result = std::optional<Error>;

Result checkSegment(const SegmentInfo& segment, std::size_t index) {
  const std::string place = "segment " + std::to_string(index);
  for (const std::uint32_t seen : segment.sees) {
    if (seen >= index)
      return errorAt(place, "attention to segment " + std::to_string(seen),
                     /*id:earlier-segments-only*/ "attention only to earlier segments");
  }
  if (!segment.texts.empty() && segment.texts.size() != segment.tokens.size()) {
    return errorAt(
        place, counted(segment.texts.size(), "text"),
        /*id:one-for-each*/ "one for each of the " + counted(segment.tokens.size(), "token") + ", or none");
  }
  std::int64_t covered = 0;
  for (const TokenRunInfo& run : segment.runs) {
    if (run.count < 0)
      return errorAt(place, "a run of " + std::to_string(run.count) + " tokens", "at least 0");
    addSaturated(covered, run.count);
  }
  if (covered > static_cast<std::int64_t>(segment.tokens.size())) {
    return errorAt(place, "runs of " + counted(covered, "token"),
                   "at most " + std::to_string(segment.tokens.size()));
  }
  if (segment.visibleBegin < 0 || static_cast<std::size_t>(segment.visibleBegin) > segment.tokens.size()) {
    return errorAt(place, "visible from token " + std::to_string(segment.visibleBegin),
                   "0 to " + std::to_string(segment.tokens.size()));
  }
  return std::nullopt;
}

Result checkSegments(const std::vector<SegmentInfo>& segments) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (Result error = checkSegment(segments[i], i)) return error;
  }
  return std::nullopt;
}

Result checkCounts(std::int64_t prompt, std::int64_t cached, std::int64_t relocated) {
  if (prompt < 0 || cached < 0 || relocated < 0 || cached > prompt || relocated > cached) {
    return errorAt("token counts",
                   std::to_string(relocated) + " relocated of " + std::to_string(cached) + " cached of " +
                       std::to_string(prompt),
                   "0 ≤ relocated ≤ cached ≤ total");
  }
  return std::nullopt;
}

/// Checks an event against the state so far. Changes nothing.
struct Checker {
  const Progress& progress;
  const PoolReplay& pool;
  const Event& event;
  bool whole;

  const RequestState* find(RequestId id) const {
    const auto found = progress.requests.find(id);
    return found == progress.requests.end() ? nullptr : &found->second;
  }
  Result place(std::uint32_t segment, std::int32_t virtualIndex) const {
    if (virtualIndex < 0) return errorAt("virtual block", std::to_string(virtualIndex), "at least 0");
    const RequestState* request = find(event.request);
    if (request != nullptr && !request->segments.empty() && segment >= request->segments.size()) {
      return errorAt("segment", std::to_string(segment), "below " + std::to_string(request->segments.size()));
    }
    return std::nullopt;
  }
  Result known(RequestId id) const {
    if (!whole || find(id) != nullptr) return std::nullopt;
    return errorAt("request", std::to_string(id),
                   /*id:earlier-event-introduced*/ "a request that an earlier event reported");
  }
  Result names(About about) const {
    switch (about) {
      case About::Anything:
        return std::nullopt;
      case About::Run:
        return event.run != 0 ? std::nullopt : Result(errorAt("run", "0", "a run number above 0"));
      case About::Request:
      case About::KnownRequest:
        if (event.request == 0) return errorAt("request", "0", "a request");
        return about == About::KnownRequest ? known(event.request) : std::nullopt;
    }
    return std::nullopt;
  }

  /// Returns the fault by the facts of the event's kind, or by the function below for its kind.
  template <class T>
  Result check(const T& payload) const {
    if (Result error = names(Facts<T>::kAbout)) return error;
    if (Result error = Facts<T>::fault(payload)) return error;
    return (*this)(payload);
  }

  Result operator()(const Snapshot& payload) const {
    // The pool of a watched server grows while the number of its blocks is unknown.
    if (pool.blockCount() != 0 && payload.pool.blocks.size() < pool.blockCount()) {
      return errorAt("pool", counted(payload.pool.blocks.size(), "block"),
                     "at least " + std::to_string(pool.blockCount()) + ", as before");
    }
    return std::nullopt;
  }
  Result operator()(const RunFinished&) const {
    if (!whole || progress.runs.contains(event.run)) return std::nullopt;
    return errorAt("run", std::to_string(event.run), /*id:one-that-has*/ "a run that has started");
  }
  Result operator()(const StepFinished&) const {
    return event.request == 0 ? std::nullopt : known(event.request);
  }
  Result operator()(const StepMetrics& payload) const {
    if (Result error = checkCounts(payload.promptTokens, payload.cachedTokens, payload.relocatedTokens))
      return error;
    if (payload.computedTokens < 0 || payload.generatedTokens < 0 || payload.preemptions < 0 ||
        payload.recomputedTokens < 0) {
      return errorAt("token counts", "a negative number", "at least 0");
    }
    return event.request == 0 ? std::nullopt : known(event.request);
  }
  Result operator()(const SpanTableLaidOut& payload) const {
    const RequestState* request = find(event.request);
    if (request != nullptr && !request->blocks.empty() &&
        request->blocks.rbegin()->first.segment >= payload.segments.size()) {
      return errorAt("segments", std::to_string(payload.segments.size()),
                     /*id:enough-blocks-reported*/ "enough segments for the reported blocks");
    }
    return checkSegments(payload.segments);
  }
  Result operator()(const BlockLookedUp& payload) const {
    if (Result error = place(payload.segment, payload.virtualIndex)) return error;
    if (payload.block < 0 || (payload.block != kNullBlock && !progress.gap &&
                              static_cast<std::size_t>(payload.block) >= pool.blockCount())) {
      return errorAt("block", std::to_string(payload.block), /*id:block-pool*/ "a block of the pool, or 0");
    }
    if (payload.tokens < 0 || payload.wanted < 0 || payload.tokens > payload.wanted) {
      return errorAt(
          "token slots", std::to_string(payload.tokens) + " hits of " + std::to_string(payload.wanted),
          /*id:none-negative-no*/ "no negative numbers, and at most as many hits as requested slots");
    }
    return std::nullopt;
  }
  Result operator()(const BlockAllocated& payload) const {
    return place(payload.segment, payload.virtualIndex);
  }
  Result operator()(const BlockShared& payload) const { return place(payload.segment, payload.virtualIndex); }
  Result operator()(const BlockStored& payload) const { return place(payload.segment, payload.virtualIndex); }
  Result operator()(const RequestAdmitted& payload) const {
    if (payload.recomputedTokens < 0) {
      return errorAt("recomputed tokens", std::to_string(payload.recomputedTokens), "at least 0");
    }
    return checkCounts(payload.promptTokens, payload.cachedTokens, payload.relocatedTokens);
  }
  Result operator()(const BlockLoaded& payload) const { return place(payload.segment, payload.virtualIndex); }
  Result operator()(const BatchComputed& payload) const {
    for (const BatchEntry& entry : payload.entries) {
      if (entry.request == 0) return errorAt("request", "0", "a request");
      if (Result error = known(entry.request)) return error;
      if (entry.count < 0 || entry.begin < 0) {
        return errorAt("rows", std::to_string(entry.count) + " from " + std::to_string(entry.begin),
                       "no negative numbers");
      }
    }
    if (payload.nanoseconds < 0)
      return errorAt("duration", std::to_string(payload.nanoseconds), "at least 0");
    return std::nullopt;
  }
  Result operator()(const TokenGenerated& payload) const {
    const RequestState* request = find(event.request);
    if (payload.index < 0) return errorAt("token index", std::to_string(payload.index), "at least 0");
    if (whole && request->complete && payload.index != request->generatedTokens) {
      return errorAt("token index", std::to_string(payload.index), std::to_string(request->generatedTokens));
    }
    return std::nullopt;
  }
  Result operator()(const AttentionMass& payload) const {
    if (Result error = place(payload.segment, payload.virtualIndex)) return error;
    if (payload.keySpan < 0) return errorAt("key span", std::to_string(payload.keySpan), "at least 0");
    std::uint64_t width = 0;
    for (const std::int32_t blocks : payload.keyBlocks) {
      if (blocks < 0) return errorAt("key blocks", std::to_string(blocks), "at least 0");
      width += static_cast<std::uint64_t>(blocks);
    }
    if (payload.keySegments.size() != payload.keyBlocks.size()) {
      return errorAt("key blocks", counted(payload.keyBlocks.size(), "count"),
                     "one for each of the " + counted(payload.keySegments.size(), "key segment"));
    }
    for (const std::uint32_t segment : payload.keySegments) {
      if (Result error = place(segment, 0)) return error;
    }
    const std::uint64_t values = payload.mass.size();
    const auto heads = static_cast<std::uint64_t>(std::max(payload.heads, 0));
    const bool fits = width == 0 || heads == 0 ? values == 0 : values % width == 0 && values / width == heads;
    if (payload.heads < 0 || !fits) {
      return errorAt("attention mass", counted(values, "value"),
                     counted(payload.heads, "head") + " of " + counted(width, "key block"));
    }
    return std::nullopt;
  }

  Result operator()(const SegmentAttention& payload) const {
    if (Result error = place(payload.segment, payload.virtualIndex)) return error;
    for (const std::uint32_t segment : payload.keySegments) {
      if (Result error = place(segment, 0)) return error;
    }
    if (payload.heads < 0) return errorAt("heads", std::to_string(payload.heads), "at least 0");
    return attentionFault(payload, payload.keySegments.size(), "segment");
  }
  Result operator()(const PromptDivided& payload) const {
    for (const PartRange& range : payload.ranges) {
      if (Result error = place(range.segment, 0)) return error;
      const RequestState* request = find(event.request);
      if (request == nullptr || request->segments.empty()) continue;
      const std::size_t length = request->segments[range.segment].tokens.size();
      if (static_cast<std::size_t>(range.end) > length)
        return errorAt("tokens to " + std::to_string(range.end), "more tokens than the segment has",
                       "at most " + counted(length, "token"));
    }
    return std::nullopt;
  }
  Result operator()(const ReplayedMass& payload) const { return (*this)(payload.mass); }

  Result operator()(const TeamFormed& payload) const { return team(payload.requests); }
  Result operator()(const TeammateAttention& payload) const { return team(payload.requests); }
  Result team(const std::vector<RequestId>& requests) const {
    for (const RequestId request : requests) {
      if (Result error = known(request)) return error;
    }
    return std::nullopt;
  }

  template <class Other>
  Result operator()(const Other&) const {
    return std::nullopt;
  }
};

}  // namespace

/// Applies a checked event to everything except the pool. This class has a function for each kind of event
/// that changes more than the list of known requests.
struct Replay::Updater {
  Replay& replay;
  Progress& progress;
  const Event& event;

  RequestState& request(RequestId id) const {
    const bool isNew = !progress.requests.contains(id);
    RequestState& state = progress.requests.edit(id);
    if (isNew) {
      state.complete = progress.whole;
      state.run = event.run;
      if (event.run != 0) run(event.run).requests.push_back(id);
    }
    if (progress.gap) state.complete = false;
    return state;
  }
  RequestState& request() const { return request(event.request); }
  RunState& run(RunId id) const { return progress.runs.edit(id); }
  VirtualBlock& at(std::uint32_t segment, std::int32_t virtualIndex) const {
    return request().blocks.edit(BlockPlace{segment, virtualIndex});
  }

  void operator()(const SessionStarted& payload) const {
    const std::uint64_t sequence = progress.sequence;
    const bool whole = sequence == 1;
    progress = Progress{};
    progress.program = payload.program;
    progress.model = payload.model;
    progress.backend = payload.backend;
    progress.threads = payload.threads;
    progress.layers = payload.layers;
    progress.heads = payload.heads;
    progress.sequence = sequence;
    progress.time = event.time;
    progress.whole = whole;
  }
  void operator()(const WindowsReported& payload) const { progress.windows = payload.windows; }
  void operator()(const Snapshot& payload) const { progress.lost += payload.lost; }
  void operator()(const RunStarted& payload) const {
    RunState& state = run(event.run);
    state.queryJson = payload.queryJson;
    state.policy = payload.policy;
    state.seed = payload.seed;
    state.startedAt = event.time;
  }
  void operator()(const RunFinished& payload) const {
    RunState& state = run(event.run);
    state.outcome = payload.outcome;
    state.answer = payload.answer;
    state.finishedAt = event.time;
  }
  void operator()(const PlanMade& payload) const { run(event.run).plan = payload; }
  void operator()(const PassagesRetrieved& payload) const { run(event.run).retrieved[event.node] = payload; }
  void operator()(const StepStarted& payload) const {
    const bool isNew = !progress.requests.contains(event.request);
    RequestState& state = request();
    if (isNew) state.complete = !progress.gap;
    state.node = event.node;
    state.step = payload.step;
    state.copy = payload.copy;
    state.startedAt = event.time;
  }
  void operator()(const StepFinished& payload) const {
    if (event.request == 0) return;
    RequestState& state = request();
    state.phase = RequestPhase::Finished;
    state.step = payload.step;
    state.outcome = payload.outcome;
    state.text = payload.text;
    state.finishedAt = event.time;
  }
  void operator()(const StepMetrics& payload) const {
    if (event.request != 0) request().metrics = payload;
  }
  void operator()(const SpanTableLaidOut& payload) const { request().segments = payload.segments; }
  void operator()(const BlockLookedUp& payload) const {
    // Only lookups of the first admission count. A resumed request finds mostly its own blocks.
    if (request().preemptions > 0) return;
    VirtualBlock& block = at(payload.segment, payload.virtualIndex);
    block.outcome = payload.outcome;
    block.reason = payload.reason;
    block.lookup = event.sequence;
  }
  void operator()(const BlockAllocated& payload) const {
    if (event.request == 0) return;
    VirtualBlock& block = at(payload.segment, payload.virtualIndex);
    block.block = payload.block;
    block.allocated = true;
  }
  void operator()(const BlockShared& payload) const {
    if (event.request == 0) return;
    VirtualBlock& block = at(payload.segment, payload.virtualIndex);
    // The source of a copy is shared for a short time at the same place. Views show the allocated block.
    if (!block.allocated) block.block = payload.block;
  }
  void operator()(const BlockStored&) const { ++progress.stored; }
  void operator()(const BlockRemoved& payload) const {
    if (payload.reason == RemovalReason::Evicted) ++progress.evicted;
  }
  void operator()(const BlockCopied&) const { ++progress.copied; }
  void operator()(const BlockLoaded&) const {}  // the request is known from the lookup
  void operator()(const RequestAdmitted& payload) const {
    RequestState& state = request();
    if (state.phase != RequestPhase::Finished) state.phase = RequestPhase::Running;
    if (payload.resumed) {
      addSaturated(state.recomputedTokens, payload.recomputedTokens);
      addSaturated(progress.recomputedTokens, payload.recomputedTokens);
      return;
    }
    state.promptTokens = payload.promptTokens;
    state.cachedTokens = payload.cachedTokens;
    state.relocatedTokens = payload.relocatedTokens;
    state.admittedAt = event.time;
  }
  void operator()(const RequestDeferred& payload) const {
    RequestState& state = request();
    if (state.phase == RequestPhase::Started) state.phase = RequestPhase::Waiting;
    state.waitReason = payload.reason;
    state.waitFor = payload.waitFor;
  }
  void operator()(const RequestPreempted& payload) const {
    RequestState& state = request();
    // A request of a group may have finished while the other requests still attend to its answer.
    if (state.phase != RequestPhase::Finished) {
      state.phase = RequestPhase::Waiting;
      state.waitReason = "preempted: an older request needs the blocks";
      state.waitFor = payload.requester;
    }
    addSaturated(state.preemptions, 1);
    addSaturated(progress.preemptions, 1);
    const SharedMap<BlockPlace, VirtualBlock> before = state.blocks;
    for (const auto& [place, block] : before) {
      VirtualBlock& own = state.blocks.edit(place);
      own.block = kNullBlock;
      own.allocated = false;
    }
  }
  void operator()(const BatchComputed& payload) const {
    addSaturated(progress.passes, 1);
    addSaturated(progress.passTime, payload.nanoseconds);
    for (const BatchEntry& entry : payload.entries) {
      addSaturated(progress.rows, entry.count);
      RequestState& state = request(entry.request);
      if (!entry.decode && !entry.repeated) addSaturated(state.computedTokens, entry.count);
    }
  }
  void operator()(const TokenGenerated& payload) const {
    RequestState& state = request();
    state.generatedTokens = std::max(state.generatedTokens, std::int64_t{payload.index} + 1);
    state.text += payload.text;
    if (state.firstTokenAt < 0 && payload.index == 0) state.firstTokenAt = event.time;
    state.lastTokenAt = event.time;
  }
  void operator()(const LayoutChosen&) const { run(event.run); }
  void operator()(const ServerChosen&) const { run(event.run); }
  void operator()(const PromptReported& payload) const {
    RequestState& state = request();
    if (state.phase != RequestPhase::Finished) state.phase = RequestPhase::Running;
    if (state.admittedAt < 0) state.admittedAt = event.time;
    state.promptTokens = payload.total;
    state.cachedTokens = payload.cached;
    state.relocatedTokens = std::min(state.relocatedTokens, state.cachedTokens);
    state.computedTokens = payload.processed - payload.cached;
  }
  void operator()(const TextReceived& payload) const {
    RequestState& state = request();
    if (state.phase != RequestPhase::Finished) state.phase = RequestPhase::Running;
    state.text += payload.text;
    if (state.firstTokenAt < 0) state.firstTokenAt = event.time;
    state.lastTokenAt = event.time;
  }
  void operator()(const ServerReported& payload) const {
    RequestState& state = request();
    if (payload.promptTokens) state.promptTokens = *payload.promptTokens;
    if (payload.generatedTokens) state.generatedTokens = *payload.generatedTokens;
    if (payload.isCachedKnown()) {
      state.cachedTokens = payload.cachedTokens;
      state.computedTokens = state.promptTokens - std::min(state.cachedTokens, state.promptTokens);
    }
    state.cachedTokens = std::min(state.cachedTokens, state.promptTokens);
    state.relocatedTokens = std::min(state.relocatedTokens, state.cachedTokens);
    state.reported = payload;
  }
  void operator()(const AttentionLeftOut& payload) const { run(event.run).attentionLeftOut = payload; }
  void operator()(const MessageLogged& payload) const {
    if (payload.severity == Severity::Warning) ++progress.warnings;
    if (payload.severity == Severity::Error) ++progress.errors;
  }
  template <class Other>
  void operator()(const Other&) const {
    constexpr About kAbout = Facts<Other>::kAbout;
    if constexpr (kAbout == About::Request || kAbout == About::KnownRequest) request();
  }
};

namespace {

bool sameRetrieved(const RunState& a, const RunState& b) {
  return std::equal(a.retrieved.begin(), a.retrieved.end(), b.retrieved.begin(), b.retrieved.end(),
                    [](const auto& one, const auto& other) {
                      return one.first == other.first && one.second.isCopyOf(other.second);
                    });
}

bool sameInputs(const RunState& a, const RunState& b) {
  return a.queryJson.isCopyOf(b.queryJson) && a.plan.isCopyOf(b.plan) && sameRetrieved(a, b);
}

}  // namespace

std::uint64_t Replay::bytesBeside(const Replay& before) const {
  const Progress& earlier = before.m_progress;
  std::uint64_t bytes = sizeof(Replay) + m_pool.bytesBeside(before.m_pool);
  bytes += m_progress.runs.bytesBeside(earlier.runs) + m_progress.requests.bytesBeside(earlier.requests);
  m_progress.runs.visitChanges(earlier.runs, [&](RunId id, const RunState& run) {
    bytes += sizeof(RunState) + heapBytes(run.policy) + heapBytes(run.requests) + heapBytes(run.answer);
    const auto known = earlier.runs.find(id);
    if (known == earlier.runs.end() || !sameInputs(known->second, run)) {
      bytes += heapBytes(run.queryJson) + heapBytes(run.plan) + heapBytes(run.retrieved);
    }
  });
  const RequestState none;
  m_progress.requests.visitChanges(earlier.requests, [&](RequestId id, const RequestState& request) {
    const auto known = earlier.requests.find(id);
    const RequestState& old = known == earlier.requests.end() ? none : known->second;
    bytes += sizeof(RequestState) + heapBytes(request.node) + heapBytes(request.waitReason) +
             heapBytes(request.text) + heapBytes(request.reported) + request.blocks.bytesBeside(old.blocks);
  });
  return bytes;
}

std::optional<Error> Replay::apply(const Event& event) {
  const auto named = [&event](Error error) {
    error.place = "event " + std::to_string(event.sequence) + " (" + eventName(event.payload) + ")" +
                  (error.place.empty() ? "" : ", " + error.place);
    return error;
  };
  const std::uint64_t last = m_progress.sequence;
  const bool repeats = std::holds_alternative<Snapshot>(event.payload) && event.sequence == last && last != 0;
  if (event.sequence <= last && !repeats) {
    return named(
        errorAt("sequence number", std::to_string(event.sequence), "more than " + std::to_string(last)));
  }
  if (event.time < m_progress.time) {
    return named(errorAt("time", std::to_string(event.time), "at least " + std::to_string(m_progress.time)));
  }

  const bool jump = event.sequence - last > 1;
  const PoolEffect effect = std::visit([]<class T>(const T&) { return Facts<T>::kPool; }, event.payload);
  if (effect == PoolEffect::Changes && (jump || m_progress.gap)) {
    return named(errorAt("pool", /*id:change-after-events*/ "a change after missing events",
                         "a snapshot before the change"));
  }
  const bool whole = m_progress.whole && !jump;
  const Checker checker{m_progress, m_pool, event, whole};
  if (Result error =
          std::visit([&checker](const auto& payload) { return checker.check(payload); }, event.payload)) {
    return named(std::move(*error));
  }
  if (Result error = m_pool.apply(event)) return named(std::move(*error));

  if (jump && !m_progress.gap) {
    for (const auto& [id, request] : m_progress.requests) {
      if (request.phase == RequestPhase::Finished) continue;
      m_progress.requests.edit(id).complete = false;
    }
  }
  m_progress.whole = whole;
  m_progress.gap = (m_progress.gap || jump) && effect != PoolEffect::Replaces;
  m_progress.sequence = event.sequence;
  m_progress.time = event.time;
  std::visit(Updater{*this, m_progress, event}, event.payload);
  return std::nullopt;
}

}  // namespace spanscope::trace
