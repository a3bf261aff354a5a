// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of every kind of event, said once: a row of facts and, below it, its fields, where
// `fields(visit, value)` calls visit(name, member) for each member in file order. The binary codec, the JSON
// form, the fingerprint of the file format, the tests' random values, the recorder, the replay, the indices
// of the window's store, the log and the command line are made from these rows. A new event needs its struct
// and variant entry in event.h, and here its row.
#pragma once

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/severity.h"
#include "engine/base/translation.h"
#include "engine/trace/event.h"
#include "engine/trace/event_words.h"
#include "engine/trace/fidelity_figures.h"
#include "engine/trace/line_pieces.h"
#include "engine/trace/part_fields.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace spanscope::trace {

/// What an event of a kind must name beside its payload; a reader refuses one that does not.
enum class About : std::uint8_t {
  Anything,      ///< it may name nothing
  Run,           ///< Event::run
  Request,       ///< Event::request, of which this may be the first that is heard
  KnownRequest,  ///< Event::request, which an earlier event introduced
};

/// What an event of a kind does to the pool (engine/trace/pool_replay.h).
enum class PoolEffect : std::uint8_t {
  None,
  Changes,  ///< so that the state before it must be known
  Replaces  ///< by a state that it brings along
};

/// By what a reader looks up the events of a kind, so that it need not walk through all of them.
struct Indexed {
  bool inSession = false;
  bool byRun = false;      ///< Event::run
  bool byRequest = false;  ///< the requests that Facts::visitRequests names
};

/// The facts of a kind of event that says nothing else. A row says, beside kName:
///
///   kIsDetail        whether it is left out of what the window is sent when the window does not keep up,
///                    because a snapshot of the pool makes up for it or nothing but a view of it needs it
///   kPool            what it does to the pool
///   kAbout           what it must name
///   kIndexed         how readers find it
///   IndexedAs        the kind of event among which it is indexed: its own, unless it follows another
///   visitRequests()  the requests that it is indexed by: the one that it names, unless there are several
///   fault()          what is wrong with a payload in itself; nothing: it is sound
///   line()           what happened, in one line of a listing, after name, run, request and node
///   severity()       how severe it is in the log; nothing: it has no line of its own there
///   words()          that line, where severity() gives something
struct UsualFacts {
  static constexpr bool kIsDetail = false;
  static constexpr PoolEffect kPool = PoolEffect::None;
  static constexpr About kAbout = About::Anything;
  static constexpr Indexed kIndexed{};

  template <class Payload, class Visit>
  static void visitRequests(const Payload& /*payload*/, const Event& event, Visit visit) {
    visit(event.request);
  }
  template <class Payload>
  static std::optional<Error> fault(const Payload& /*payload*/) {
    return std::nullopt;
  }
  template <class Payload>
  static std::optional<Severity> severity(const Payload& /*payload*/) {
    return std::nullopt;
  }
};

/// What is wrong with the lists of attention by layer, head and key, if anything. `width`: number of keys.
template <class Attention>
std::optional<Error> attentionFault(const Attention& e, std::uint64_t width, const char* key) {
  // Each factor is a list that was held in memory, or below 2³¹, so that no product overflows.
  const std::uint64_t rows = e.layers.size() * static_cast<std::uint64_t>(e.heads);
  for (const std::vector<float>* values : {&e.mass, &e.first}) {
    const std::uint64_t count = values->size();
    const bool fits = rows == 0 || width == 0 ? count == 0 : count % width == 0 && count / width == rows;
    if (fits) continue;
    return errorAt(std::string("attention by ") + key, counted(count, "value"),
                   counted(e.layers.size(), "layer") + " of " + counted(e.heads, "head") + " of " +
                       counted(width, std::string("key ") + key));
  }
  return std::nullopt;
}

/// The row of a kind of event.
template <class Payload>
struct Facts;

/// The kind of event among which one is indexed.
template <class Payload>
struct IndexedAs {
  using Kind = Payload;
};
template <class Payload>
requires requires {
  typename Facts<Payload>::IndexedAs;
}
struct IndexedAs<Payload> {
  using Kind = typename Facts<Payload>::IndexedAs;
};

template <>
struct Facts<SessionStarted> : UsualFacts {
  static constexpr const char* kName = "session_started";
  static constexpr PoolEffect kPool = PoolEffect::Replaces;
  static std::string line(const SessionStarted& e) {
    return escaped(e.program) + ", model " + escaped(e.model) + ", " + escaped(e.backend) + ", " +
           counted(e.threads, "thread") + ", " + poolText(e.pool);
  }
  static std::optional<Severity> severity(const SessionStarted&) { return Severity::Note; }
  static EventWords words(const SessionStarted& e, const Event&) {
    return {forTranslation("Events", "Session started: %1, %2"), {e.model, e.backend}};
  }
};
template <class V, Is<SessionStarted> X>
void fields(V&& v, X& x) {
  v("program", x.program);
  v("model", x.model);
  v("backend", x.backend);
  v("threads", x.threads);
  v("layers", x.layers);
  v("heads", x.heads);
  v("pool", x.pool);
}

template <>
struct Facts<RunStarted> : UsualFacts {
  static constexpr const char* kName = "run_started";
  static constexpr About kAbout = About::Run;
  static constexpr Indexed kIndexed{.inSession = true};
  static std::string line(const RunStarted& e) {
    return "policy " + escaped(e.policy) + ", seed " + std::to_string(e.seed) + ", query " +
           inQuotes(e.queryJson);
  }
  static std::optional<Severity> severity(const RunStarted&) { return Severity::Note; }
  static EventWords words(const RunStarted& e, const Event& event) {
    return {forTranslation("Events", "Run %1 started: policy %2, seed %3"), {event.run, e.policy, e.seed}};
  }
};
template <class V, Is<RunStarted> X>
void fields(V&& v, X& x) {
  v("queryJson", x.queryJson);
  v("policy", x.policy);
  v("seed", x.seed);
}

template <>
struct Facts<RunFinished> : UsualFacts {
  static constexpr const char* kName = "run_finished";
  static constexpr About kAbout = About::Run;
  static constexpr Indexed kIndexed{.byRun = true};
  static std::string line(const RunFinished& e) {
    return std::string(enumName(e.outcome)) + ": " + inQuotes(e.answer);
  }
  static std::optional<Severity> severity(const RunFinished& e) {
    return e.outcome == RunOutcome::Failed    ? Severity::Error
           : e.outcome == RunOutcome::Stopped ? Severity::Warning
                                              : Severity::Note;
  }
  static EventWords words(const RunFinished& e, const Event& event) {
    switch (e.outcome) {
      case RunOutcome::Finished:
        break;
      case RunOutcome::Stopped:
        return {forTranslation("Events", "Run %1 was stopped"), {event.run}};
      case RunOutcome::Failed:
        return {forTranslation("Events", "Run %1 failed"), {event.run}};
    }
    return {forTranslation("Events", "Run %1 finished: %2"), {event.run, ShortText{e.answer}}};
  }
};
template <class V, Is<RunFinished> X>
void fields(V&& v, X& x) {
  v("outcome", x.outcome);
  v("answer", x.answer);
}

template <>
struct Facts<PlanMade> : UsualFacts {
  static constexpr const char* kName = "plan_made";
  static constexpr About kAbout = About::Run;
  static std::string line(const PlanMade& e) { return counted(e.steps.size(), "step"); }
  static std::optional<Severity> severity(const PlanMade&) { return Severity::Note; }
  static EventWords words(const PlanMade& e, const Event&) {
    if (e.steps.size() == 1) return {forTranslation("Events", "Plan made: 1 step"), {}};
    return {forTranslation("Events", "Plan made: %1 steps"), {std::uint64_t{e.steps.size()}}};
  }
};
template <class V, Is<PlanMade> X>
void fields(V&& v, X& x) {
  v("steps", x.steps);
  v("explain", x.explain);
}

template <>
struct Facts<StepStarted> : UsualFacts {
  static constexpr const char* kName = "step_started";
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::string line(const StepStarted& e) {
    return "step " + std::to_string(e.step) + ", copy " + std::to_string(e.copy);
  }
  static std::optional<Severity> severity(const StepStarted&) { return Severity::Note; }
  static EventWords words(const StepStarted& e, const Event& event) {
    return {forTranslation("Events", "%1 started as request %2"), {StepName{e.step}, event.request}};
  }
};
template <class V, Is<StepStarted> X>
void fields(V&& v, X& x) {
  v("step", x.step);
  v("copy", x.copy);
}

template <>
struct Facts<StepFinished> : UsualFacts {
  static constexpr const char* kName = "step_finished";
  static std::string line(const StepFinished& e) {
    return "step " + std::to_string(e.step) + ", " + std::string(enumName(e.outcome)) + ": " +
           inQuotes(e.text);
  }
  static std::optional<Severity> severity(const StepFinished& e) {
    return e.outcome == StepOutcome::Failed    ? Severity::Error
           : e.outcome == StepOutcome::Stopped ? Severity::Warning
                                               : Severity::Note;
  }
  static EventWords words(const StepFinished& e, const Event&) {
    const StepName step{e.step};
    switch (e.outcome) {
      case StepOutcome::EndToken:
        break;
      case StepOutcome::TokenLimit:
        return {forTranslation("Events", "%1 reached its token limit: %2"), {step, ShortText{e.text}}};
      case StepOutcome::ContextLimit:
        return {forTranslation("Events", "%1 filled the model's context: %2"), {step, ShortText{e.text}}};
      case StepOutcome::Stopped:
        return {forTranslation("Events", "%1 was stopped"), {step}};
      case StepOutcome::Failed:
        return {forTranslation("Events", "%1 failed"), {step}};
    }
    return {forTranslation("Events", "%1 finished: %2"), {step, ShortText{e.text}}};
  }
};
template <class V, Is<StepFinished> X>
void fields(V&& v, X& x) {
  v("step", x.step);
  v("outcome", x.outcome);
  v("text", x.text);
}

template <>
struct Facts<SpanTableLaidOut> : UsualFacts {
  static constexpr const char* kName = "span_table_laid_out";
  static constexpr About kAbout = About::Request;
  static std::string line(const SpanTableLaidOut& e) {
    std::uint64_t tokens = 0;
    std::uint64_t independent = 0;
    for (const SegmentInfo& segment : e.segments) {
      tokens += segment.tokens.size();
      independent += segment.independent ? 1 : 0;
    }
    return counted(e.segments.size(), "segment") + " (" + std::to_string(independent) + " independent), " +
           counted(tokens, "token");
  }
};
template <class V, Is<SpanTableLaidOut> X>
void fields(V&& v, X& x) {
  v("segments", x.segments);
}

template <>
struct Facts<BlockLookedUp> : UsualFacts {
  static constexpr const char* kName = "block_looked_up";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::string line(const BlockLookedUp& e) {
    std::string out = placeText(e.segment, e.virtualIndex) + ": " + std::string(enumName(e.outcome)) + ", " +
                      std::to_string(e.tokens) + " of " + counted(e.wanted, "token");
    if (e.outcome != LookupOutcome::Miss) {
      out += " in " + physicalText(e.block) + ", stored ";
      out += e.storedByRequest == 0 ? "elsewhere"
                                    : "by run " + std::to_string(e.storedByRun) + " request " +
                                          std::to_string(e.storedByRequest) + " " + escaped(e.storedByNode);
      if (e.outcome == LookupOutcome::Relocated) {
        out += ", from position " + std::to_string(e.storedBase) + " to " + std::to_string(e.base);
      }
    }
    if (e.reason != MissReason::None) out += ", " + std::string(enumName(e.reason));
    if (e.reason == MissReason::TokensDiffer) {
      out += " at token " + std::to_string(e.differsAt) + " (wanted " + std::to_string(e.tokenWanted) +
             ", stored " + std::to_string(e.tokenStored) + ")";
    }
    if (e.reason == MissReason::Evicted) out += " by event " + std::to_string(e.evictedBy);
    if (e.reason == MissReason::ContextDiffers)
      out += " from seen segment " + std::to_string(e.contextDiffersAt);
    return out;
  }
};
template <class V, Is<BlockLookedUp> X>
void fields(V&& v, X& x) {
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("block", x.block);
  v("outcome", x.outcome);
  v("reason", x.reason);
  v("tokens", x.tokens);
  v("wanted", x.wanted);
  v("base", x.base);
  v("storedBase", x.storedBase);
  v("storedByRun", x.storedByRun);
  v("storedByRequest", x.storedByRequest);
  v("storedByNode", x.storedByNode);
  v("differsAt", x.differsAt);
  v("tokenWanted", x.tokenWanted);
  v("tokenStored", x.tokenStored);
  v("evictedBy", x.evictedBy);
  v("contextDiffersAt", x.contextDiffersAt);
}

template <>
struct Facts<BlockAllocated> : UsualFacts {
  static constexpr const char* kName = "block_allocated";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static std::string line(const BlockAllocated& e) {
    return physicalText(e.block) + " for " + placeText(e.segment, e.virtualIndex);
  }
};
template <class V, Is<BlockAllocated> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
}

template <>
struct Facts<BlockShared> : UsualFacts {
  static constexpr const char* kName = "block_shared";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static std::string line(const BlockShared& e) {
    return physicalText(e.block) + " for " + placeText(e.segment, e.virtualIndex) + ", " +
           counted(e.references, "reference");
  }
};
template <class V, Is<BlockShared> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("references", x.references);
}

template <>
struct Facts<BlockStored> : UsualFacts {
  static constexpr const char* kName = "block_stored";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static std::string line(const BlockStored& e) {
    return physicalText(e.block) + " with " + counted(e.tokens.size(), "token") + " of " +
           placeText(e.segment, e.virtualIndex) + ", key " + keyText(e.key);
  }
};
template <class V, Is<BlockStored> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("key", x.key);
  v("parent", x.parent);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("base", x.base);
  v("tokens", x.tokens);
}

template <>
struct Facts<BlockRemoved> : UsualFacts {
  static constexpr const char* kName = "block_removed";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static std::string line(const BlockRemoved& e) {
    return physicalText(e.block) + ", key " + keyText(e.key) + ", " + std::string(enumName(e.reason));
  }
};
template <class V, Is<BlockRemoved> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("key", x.key);
  v("reason", x.reason);
}

template <>
struct Facts<BlockCopied> : UsualFacts {
  static constexpr const char* kName = "block_copied";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static std::string line(const BlockCopied& e) {
    return counted(e.slots, "slot") + " of " + physicalText(e.source) + " to " + physicalText(e.target);
  }
};
template <class V, Is<BlockCopied> X>
void fields(V&& v, X& x) {
  v("source", x.source);
  v("target", x.target);
  v("slots", x.slots);
}

template <>
struct Facts<BlockReleased> : UsualFacts {
  static constexpr const char* kName = "block_released";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static std::string line(const BlockReleased& e) {
    return physicalText(e.block) + ", " + counted(e.references, "reference");
  }
};
template <class V, Is<BlockReleased> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("references", x.references);
}

template <>
struct Facts<CacheCleared> : UsualFacts {
  static constexpr const char* kName = "cache_cleared";
  static constexpr bool kIsDetail = true;
  static constexpr PoolEffect kPool = PoolEffect::Changes;
  static std::string line(const CacheCleared&) { return "nothing can be found any more"; }
  static std::optional<Severity> severity(const CacheCleared&) { return Severity::Note; }
  static EventWords words(const CacheCleared&, const Event&) {
    return {forTranslation("Events", "The cache was emptied"), {}};
  }
};
template <class V, Is<CacheCleared> X>
void fields(V&&, X&) {}

template <>
struct Facts<RequestAdmitted> : UsualFacts {
  static constexpr const char* kName = "request_admitted";
  static constexpr About kAbout = About::Request;
  static std::string line(const RequestAdmitted& e) {
    const std::string found = ", " + std::to_string(e.cachedTokens) + " cached, " +
                              std::to_string(e.relocatedTokens) + " of them relocated";
    if (!e.resumed) return counted(e.promptTokens, "prompt token") + found;
    return "resumed with " + counted(e.promptTokens, "token") + found + ", " +
           std::to_string(e.recomputedTokens) + " computed again";
  }
};
template <class V, Is<RequestAdmitted> X>
void fields(V&& v, X& x) {
  v("promptTokens", x.promptTokens);
  v("cachedTokens", x.cachedTokens);
  v("relocatedTokens", x.relocatedTokens);
  v("resumed", x.resumed);
  v("recomputedTokens", x.recomputedTokens);
}

template <>
struct Facts<RequestPreempted> : UsualFacts {
  static constexpr const char* kName = "request_preempted";
  static constexpr About kAbout = About::KnownRequest;
  static std::optional<Error> fault(const RequestPreempted& e) {
    if (e.blocks < 0 || e.computedTokens < 0) return errorAt("counts", "a negative one", "at least 0");
    return std::nullopt;
  }
  static std::string line(const RequestPreempted& e) {
    return "gives back " + counted(e.blocks, "block") + " with " +
           counted(e.computedTokens, "computed token") + ", request " + std::to_string(e.requester) +
           " needs room";
  }
  static std::optional<Severity> severity(const RequestPreempted&) { return Severity::Note; }
  static EventWords words(const RequestPreempted& e, const Event& event) {
    if (e.requester == event.request)
      return {forTranslation("Events", "Request %1 gave its blocks back: older requests need them"),
              {event.request}};
    return {forTranslation("Events", "Request %1 gave its blocks back: request %2 needs room"),
            {event.request, e.requester}};
  }
};
template <class V, Is<RequestPreempted> X>
void fields(V&& v, X& x) {
  v("requester", x.requester);
  v("blocks", x.blocks);
  v("computedTokens", x.computedTokens);
}

template <>
struct Facts<RequestDeferred> : UsualFacts {
  static constexpr const char* kName = "request_deferred";
  static constexpr About kAbout = About::Request;
  static std::string line(const RequestDeferred& e) {
    return escaped(e.reason) + (e.waitFor != 0 ? ", waits for request " + std::to_string(e.waitFor) : "");
  }
  static std::optional<Severity> severity(const RequestDeferred&) { return Severity::Note; }
  static EventWords words(const RequestDeferred& e, const Event& event) {
    return {forTranslation("Events", "Request %1 waits: %2"), {event.request, e.reason}};
  }
};
template <class V, Is<RequestDeferred> X>
void fields(V&& v, X& x) {
  v("reason", x.reason);
  v("waitFor", x.waitFor);
}

template <>
struct Facts<BatchComputed> : UsualFacts {
  static constexpr const char* kName = "batch_computed";
  static constexpr bool kIsDetail = true;
  static constexpr Indexed kIndexed{.inSession = true, .byRequest = true};
  template <class Visit>
  static void visitRequests(const BatchComputed& e, const Event&, Visit visit) {
    for (const BatchEntry& entry : e.entries) visit(entry.request);
  }
  static std::string line(const BatchComputed& e) {
    std::int64_t rows = 0;
    std::int64_t decodes = 0;
    for (const BatchEntry& entry : e.entries) {
      rows += entry.count;
      decodes += entry.decode ? 1 : 0;
    }
    return counted(rows, "row") + " of " + counted(e.entries.size(), "entry", "entries") + " (" +
           counted(decodes, "decode") + ") in " + fixedPoint(static_cast<double>(e.nanoseconds) / 1e6, 3) +
           " ms";
  }
};
template <class V, Is<BatchComputed> X>
void fields(V&& v, X& x) {
  v("entries", x.entries);
  v("nanoseconds", x.nanoseconds);
}

template <>
struct Facts<TokenGenerated> : UsualFacts {
  static constexpr const char* kName = "token_generated";
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::string line(const TokenGenerated& e) {
    return "token " + std::to_string(e.index) + ": " + std::to_string(e.token) + " " + inQuotes(e.shown) +
           ", probability " + fixedPoint(static_cast<double>(e.probability), 4);
  }
};
template <class V, Is<TokenGenerated> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("token", x.token);
  v("text", x.text);
  v("shown", x.shown);
  v("probability", x.probability);
  v("segmentMass", x.segmentMass);
}

template <>
struct Facts<AttentionMass> : UsualFacts {
  static constexpr const char* kName = "attention_mass";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::string line(const AttentionMass& e) {
    return (e.layer < 0 ? "mean of the layers" : "layer " + std::to_string(e.layer)) + ", " + queryText(e) +
           ", " + counted(e.heads, "head") + ", " + counted(e.keySegments.size(), "key segment");
  }
};
template <class V, Is<AttentionMass> X>
void fields(V&& v, X& x) {
  v("layer", x.layer);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("row", x.row);
  v("rows", x.rows);
  v("keySegments", x.keySegments);
  v("keySpan", x.keySpan);
  v("keyBlocks", x.keyBlocks);
  v("heads", x.heads);
  v("mass", x.mass);
}

template <>
struct Facts<SegmentAttention> : UsualFacts {
  static constexpr const char* kName = "segment_attention";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::string line(const SegmentAttention& e) {
    return (e.index >= 0 ? "of token " + std::to_string(e.index) + ", " : std::string()) + queryText(e) +
           ", " + counted(e.layers.size(), "layer") + ", " + counted(e.heads, "head") + ", " +
           counted(e.keySegments.size(), "key segment");
  }
};
template <class V, Is<SegmentAttention> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("row", x.row);
  v("rows", x.rows);
  v("keySegments", x.keySegments);
  v("layers", x.layers);
  v("heads", x.heads);
  v("mass", x.mass);
  v("first", x.first);
}

template <>
struct Facts<AttentionReplayed> : UsualFacts {
  static constexpr const char* kName = "attention_replayed";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const AttentionReplayed& e) {
    if (e.rows < 0 || e.firstRow < 0) {
      return errorAt("rows", std::to_string(e.rows) + " from " + std::to_string(e.firstRow), "none negative");
    }
    if (e.cachedTokens < 0 || e.recomputedTokens < 0)
      return errorAt("token counts", "a negative one", "at least 0");
    return std::nullopt;
  }
  static std::string line(const AttentionReplayed& e) {
    return "layer " + std::to_string(e.layer) + ", " +
           (e.head < 0 ? std::string("all heads") : "head " + std::to_string(e.head)) + " by " +
           (e.singleKeys ? "token" : "block") + ", " + counted(e.rows, "row") + " computed again over " +
           counted(e.cachedTokens, "cached token") + " and " + std::to_string(e.recomputedTokens) +
           " computed again";
  }
};
template <class V, Is<AttentionReplayed> X>
void fields(V&& v, X& x) {
  v("layer", x.layer);
  v("head", x.head);
  v("singleKeys", x.singleKeys);
  v("firstRow", x.firstRow);
  v("rows", x.rows);
  v("cachedTokens", x.cachedTokens);
  v("recomputedTokens", x.recomputedTokens);
}

template <>
struct Facts<TokensRecomputed> : UsualFacts {
  static constexpr const char* kName = "tokens_recomputed";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const TokensRecomputed& e) {
    for (const RecomputedTokens& segment : e.segments) {
      for (const std::int32_t token : segment.tokens) {
        if (token < 0) return errorAt("token computed again", std::to_string(token), "at least 0");
      }
    }
    return std::nullopt;
  }
  static std::string line(const TokensRecomputed& e) {
    std::size_t count = 0;
    for (const RecomputedTokens& segment : e.segments) count += segment.tokens.size();
    return std::to_string(count) + " of " + counted(e.tokens, "token") + " computed again, chosen in layer " +
           std::to_string(e.layer);
  }
};
template <class V, Is<TokensRecomputed> X>
void fields(V&& v, X& x) {
  v("layer", x.layer);
  v("tokens", x.tokens);
  v("segments", x.segments);
}

template <>
struct Facts<ReplayedMass> : UsualFacts {
  static constexpr const char* kName = "replayed_mass";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  using IndexedAs = AttentionReplayed;
  static std::optional<Error> fault(const ReplayedMass& e) {
    if (e.index < 0) return errorAt("token index", std::to_string(e.index), "at least 0");
    return std::nullopt;
  }
  static std::string line(const ReplayedMass& e) {
    return "of token " + std::to_string(e.index) + ", " + Facts<AttentionMass>::line(e.mass);
  }
};
template <class V, Is<ReplayedMass> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("mass", x.mass);
}

template <>
struct Facts<FidelityMeasured> : UsualFacts {
  static constexpr const char* kName = "fidelity_measured";
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const FidelityMeasured& e) {
    if (e.promptTokens < 0 || e.cachedTokens < 0 || e.recomputedTokens < 0 || e.attentionRows < 0)
      return errorAt("token counts", "a negative one", "at least 0");
    const auto isNone = [](double number) { return !(number >= 0) || std::isinf(number); };
    for (const FidelityToken& token : e.tokens) {
      if (isNone(token.divergence))
        return errorAt("divergence", std::to_string(token.divergence), "a number of at least 0");
    }
    for (const double deviation : e.attentionDeviation) {
      if (isNone(deviation))
        return errorAt("attention deviation", std::to_string(deviation), "a number of at least 0");
    }
    return std::nullopt;
  }
  static std::string line(const FidelityMeasured& e) {
    const FidelityMeasured* one = &e;
    return fidelityText(fidelityOf(std::span(&one, 1)));
  }
  static std::optional<Severity> severity(const FidelityMeasured&) { return Severity::Note; }
  static EventWords words(const FidelityMeasured& e, const Event& event) {
    return {forTranslation("Events", "Fidelity of run %1 measured: %2"), {event.run, line(e)}};
  }
};
template <class V, Is<FidelityMeasured> X>
void fields(V&& v, X& x) {
  v("promptTokens", x.promptTokens);
  v("cachedTokens", x.cachedTokens);
  v("recomputedTokens", x.recomputedTokens);
  v("tokens", x.tokens);
  v("fullAnswer", x.fullAnswer);
  v("fullText", x.fullText);
  v("sameText", x.sameText);
  v("attentionRows", x.attentionRows);
  v("attentionDeviation", x.attentionDeviation);
}

template <>
struct Facts<LayoutChosen> : UsualFacts {
  static constexpr const char* kName = "layout_chosen";
  static constexpr Indexed kIndexed{.byRun = true};
  static std::optional<Error> fault(const LayoutChosen& e) {
    if (e.blockSize < 1) return errorAt("block size", std::to_string(e.blockSize), "at least 1");
    return std::nullopt;
  }
  static std::string line(const LayoutChosen& e) {
    return escaped(e.layout) + " in blocks of " + counted(e.blockSize, "token") + ", pad " +
           std::to_string(e.pad) + ", plus " + std::to_string(e.plus) + ", cross " + std::to_string(e.cross);
  }
};
template <class V, Is<LayoutChosen> X>
void fields(V&& v, X& x) {
  v("layout", x.layout);
  v("blockSize", x.blockSize);
  v("pad", x.pad);
  v("plus", x.plus);
  v("cross", x.cross);
}

template <>
struct Facts<LayoutApplied> : UsualFacts {
  static constexpr const char* kName = "layout_applied";
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const LayoutApplied& e) {
    for (const LayoutRun& run : e.runs) {
      if (run.begin < 0 || run.count < 0 || run.count > std::numeric_limits<std::int32_t>::max() - run.begin)
        return errorAt("tokens of the layout",
                       std::to_string(run.count) + " from " + std::to_string(run.begin), "none negative");
    }
    std::int64_t before = 0;
    for (const CroppedRun& run : e.cropped) {
      if (run.before < before)
        return errorAt("place of cropped tokens", std::to_string(run.before),
                       "at least " + std::to_string(before));
      before = run.before;
    }
    return std::nullopt;
  }
  static std::string line(const LayoutApplied& e) {
    std::int64_t pads = 0;
    std::int64_t markers = 0;
    std::size_t cropped = 0;
    for (const LayoutRun& run : e.runs) (run.role == LayoutRole::Pad ? pads : markers) += run.count;
    for (const CroppedRun& run : e.cropped) cropped += run.tokens.size();
    return counted(pads, "pad") + ", " + counted(markers, "marker") + ", " + counted(cropped, "token") +
           " cropped";
  }
};
template <class V, Is<LayoutApplied> X>
void fields(V&& v, X& x) {
  v("runs", x.runs);
  v("cropped", x.cropped);
}

template <>
struct Facts<TeamFormed> : UsualFacts {
  static constexpr const char* kName = "team_formed";
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  template <class Visit>
  static void visitRequests(const TeamFormed& e, const Event&, Visit visit) {
    for (const RequestId request : e.requests) visit(request);
  }
  static std::string line(const TeamFormed& e) {
    return "requests " + requestsText(e.requests) + " read each other's replies as they are written";
  }
};
template <class V, Is<TeamFormed> X>
void fields(V&& v, X& x) {
  v("requests", x.requests);
}

template <>
struct Facts<TeammateAttention> : UsualFacts {
  static constexpr const char* kName = "teammate_attention";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const TeammateAttention& e) {
    if (e.index < 0) return errorAt("token index", std::to_string(e.index), "at least 0");
    if (e.mass.size() == e.requests.size()) return std::nullopt;
    return errorAt("attention on replies", std::to_string(e.mass.size()) + " shares",
                   std::to_string(e.requests.size()) + ", one a request");
  }
  static std::string line(const TeammateAttention& e) {
    float share = 0;
    for (const float mass : e.mass) share += mass;
    return "of token " + std::to_string(e.index) + ", " + fixedPoint(static_cast<double>(share) * 100, 1) +
           " % on the replies of requests " + requestsText(e.requests);
  }
};
template <class V, Is<TeammateAttention> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("requests", x.requests);
  v("mass", x.mass);
}

template <>
struct Facts<PromptDivided> : UsualFacts {
  static constexpr const char* kName = "prompt_divided";
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const PromptDivided& e) {
    for (std::size_t i = 0; i < e.ranges.size(); ++i) {
      const PartRange& range = e.ranges[i];
      const std::int32_t least = i > 0 && e.ranges[i - 1].segment == range.segment ? e.ranges[i - 1].end : 0;
      if (range.part >= e.parts.size())
        return errorAt("part", std::to_string(range.part), "below " + std::to_string(e.parts.size()));
      if (i > 0 && e.ranges[i - 1].segment > range.segment)
        return errorAt("segment", std::to_string(range.segment), "not before the range before it");
      if (range.begin < least || range.end < range.begin) {
        return errorAt("tokens", std::to_string(range.begin) + " to " + std::to_string(range.end),
                       "a range from " + std::to_string(least) + " on");
      }
    }
    return std::nullopt;
  }
  static std::string line(const PromptDivided& e) {
    std::uint64_t inPlus = 0;
    for (const PartInfo& part : e.parts) inPlus += part.inPlus ? 1 : 0;
    return counted(e.parts.size(), "part") + " (" + std::to_string(inPlus) + " in a plus)";
  }
};
template <class V, Is<PromptDivided> X>
void fields(V&& v, X& x) {
  v("parts", x.parts);
  v("ranges", x.ranges);
}

template <>
struct Facts<PartAttention> : UsualFacts {
  static constexpr const char* kName = "part_attention";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const PartAttention& e) {
    if (e.index < 0) return errorAt("token index", std::to_string(e.index), "at least 0");
    if (e.heads < 0) return errorAt("heads", std::to_string(e.heads), "at least 0");
    return attentionFault(e, e.keyParts.size(), "part");
  }
  static std::string line(const PartAttention& e) {
    return "of token " + std::to_string(e.index) + ", " + counted(e.layers.size(), "layer") + ", " +
           counted(e.heads, "head") + ", " + counted(e.keyParts.size(), "part");
  }
};
template <class V, Is<PartAttention> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("keyParts", x.keyParts);
  v("layers", x.layers);
  v("heads", x.heads);
  v("mass", x.mass);
  v("first", x.first);
}

template <>
struct Facts<StepMetrics> : UsualFacts {
  static constexpr const char* kName = "step_metrics";
  static std::string line(const StepMetrics& e) {
    std::string out = "step " + std::to_string(e.step) + ": prompt " + std::to_string(e.promptTokens) +
                      ", cached " + std::to_string(e.cachedTokens) + ", relocated " +
                      std::to_string(e.relocatedTokens) + ", computed " + std::to_string(e.computedTokens) +
                      ", generated " + std::to_string(e.generatedTokens);
    if (e.preemptions != 0) {
      out += ", preempted " + counted(e.preemptions, "time") + ", " + std::to_string(e.recomputedTokens) +
             " computed again";
    }
    return out + ", first token after " + fixedPoint(e.timeToFirstToken * 1e3, 2) + " ms, then " +
           fixedPoint(e.interTokenLatency * 1e3, 2) + " ms a token";
  }
};
template <class V, Is<StepMetrics> X>
void fields(V&& v, X& x) {
  v("step", x.step);
  v("promptTokens", x.promptTokens);
  v("cachedTokens", x.cachedTokens);
  v("relocatedTokens", x.relocatedTokens);
  v("computedTokens", x.computedTokens);
  v("generatedTokens", x.generatedTokens);
  v("timeToFirstToken", x.timeToFirstToken);
  v("interTokenLatency", x.interTokenLatency);
  v("queueTime", x.queueTime);
  v("preemptions", x.preemptions);
  v("recomputedTokens", x.recomputedTokens);
}

template <>
struct Facts<MessageLogged> : UsualFacts {
  static constexpr const char* kName = "message_logged";
  static constexpr Indexed kIndexed{.inSession = true};
  static std::string line(const MessageLogged& e) {
    return std::string(enumName(e.severity)) + ": " + escaped(e.text);
  }
  static std::optional<Severity> severity(const MessageLogged& e) { return e.severity; }
  static EventWords words(const MessageLogged& e, const Event&) { return {"%1", {e.text}}; }
};
template <class V, Is<MessageLogged> X>
void fields(V&& v, X& x) {
  v("severity", x.severity);
  v("text", x.text);
}

template <>
struct Facts<Snapshot> : UsualFacts {
  static constexpr const char* kName = "snapshot";
  static constexpr PoolEffect kPool = PoolEffect::Replaces;
  static std::string line(const Snapshot& e) {
    return counted(e.lost, "event") + " not delivered; " + poolText(e.pool);
  }
  static std::optional<Severity> severity(const Snapshot& e) {
    return e.lost == 0 ? std::nullopt : std::optional(Severity::Warning);
  }
  static EventWords words(const Snapshot& e, const Event&) {
    return {forTranslation("Events", "%1 events were lost; a snapshot stands for them"), {e.lost}};
  }
};
template <class V, Is<Snapshot> X>
void fields(V&& v, X& x) {
  v("pool", x.pool);
  v("lost", x.lost);
}

template <>
struct Facts<AttentionLeftOut> : UsualFacts {
  static constexpr const char* kName = "attention_left_out";
  static constexpr About kAbout = About::Run;
  static std::string line(const AttentionLeftOut& e) {
    return counted(e.leftOut, "record") + " of attention left out beside " + std::to_string(e.recorded) +
           ": limit of " + bytesText(e.limit) + " a run";
  }
  static std::optional<Severity> severity(const AttentionLeftOut&) { return Severity::Warning; }
  static EventWords words(const AttentionLeftOut& e, const Event&) {
    constexpr double kMebibyte = 1 << 20;
    const double limit = static_cast<double>(e.limit) / kMebibyte;
    if (e.leftOut == 1) {
      return {forTranslation("Events", "1 record of attention left out: limit of %1 MiB a run"), {limit}};
    }
    return {forTranslation("Events", "%1 records of attention left out: limit of %2 MiB a run"),
            {e.leftOut, limit}};
  }
};
template <class V, Is<AttentionLeftOut> X>
void fields(V&& v, X& x) {
  v("leftOut", x.leftOut);
  v("recorded", x.recorded);
  v("limit", x.limit);
}

template <>
struct Facts<FragmentsRetrieved> : UsualFacts {
  static constexpr const char* kName = "fragments_retrieved";
  static constexpr About kAbout = About::Run;
  static std::optional<Error> fault(const FragmentsRetrieved& e) {
    for (const FragmentInfo& fragment : e.fragments) {
      for (const double score : {fragment.score, fragment.lexicalScore, fragment.embeddingScore}) {
        if (!std::isfinite(score)) return errorAt("score", "no finite number", "one");
      }
    }
    return std::nullopt;
  }
  static std::uint64_t inPrompt(const FragmentsRetrieved& e) {
    std::uint64_t count = 0;
    for (const FragmentInfo& fragment : e.fragments) count += fragment.inPrompt ? 1 : 0;
    return count;
  }
  static std::string line(const FragmentsRetrieved& e) {
    std::string out = counted(inPrompt(e), "fragment") + " of " + counted(e.documents, "document") + " (" +
                      std::string(enumName(e.ranking)) + ") for " + inQuotes(e.question);
    if (!e.fragments.empty()) {
      const FragmentInfo& first = e.fragments.front();
      out += ", first " + inQuotes(first.text) + " of " + inQuotes(first.source) + ", score " +
             fixedPoint(first.score, 4);
    }
    return out;
  }
  static std::optional<Severity> severity(const FragmentsRetrieved&) { return Severity::Note; }
  static EventWords words(const FragmentsRetrieved& e, const Event&) {
    return {forTranslation("Events", "Retrieved %1 fragments of %2 documents for %3"),
            {inPrompt(e), e.documents, ShortText{e.question}}};
  }
};
template <class V, Is<FragmentsRetrieved> X>
void fields(V&& v, X& x) {
  v("question", x.question);
  v("ranking", x.ranking);
  v("documents", x.documents);
  v("fragments", x.fragments);
}

template <>
struct Facts<BlockLoaded> : UsualFacts {
  static constexpr const char* kName = "block_loaded";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const BlockLoaded& e) {
    if (e.tokens >= 0 && e.nanoseconds >= 0) return std::nullopt;
    return errorAt("block loaded",
                   std::to_string(e.tokens) + " tokens in " + std::to_string(e.nanoseconds) + " ns",
                   "no negative numbers");
  }
  static std::string line(const BlockLoaded& e) {
    return counted(e.tokens, "token") + " of " + placeText(e.segment, e.virtualIndex) + " into " +
           physicalText(e.block) + " from " + tierText(e.tier) + ", " + bytesText(e.bytes) + " in " +
           fixedPoint(static_cast<double>(e.nanoseconds) / 1e6, 3) + " ms, key " + keyText(e.key);
  }
};
template <class V, Is<BlockLoaded> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("key", x.key);
  v("tier", x.tier);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("tokens", x.tokens);
  v("bytes", x.bytes);
  v("nanoseconds", x.nanoseconds);
}

template <>
struct Facts<BlockSpilled> : UsualFacts {
  static constexpr const char* kName = "block_spilled";
  static constexpr bool kIsDetail = true;
  static std::string line(const BlockSpilled& e) {
    return counted(e.tokens, "token") + " of " + physicalText(e.block) + " to " + tierText(e.tier) + ", " +
           bytesText(e.bytes) + ", key " + keyText(e.key);
  }
};
template <class V, Is<BlockSpilled> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("key", x.key);
  v("tier", x.tier);
  v("tokens", x.tokens);
  v("bytes", x.bytes);
}

template <>
struct Facts<StoreReported> : UsualFacts {
  static constexpr const char* kName = "store_reported";
  static constexpr Indexed kIndexed{.inSession = true};
  static std::string line(const StoreReported& e) {
    std::string out;
    for (const StoreTierState& tier : e.tiers) {
      if (!out.empty()) out += "; ";
      out += tierText(tier.tier) + ": " + counted(tier.blocks, "block") + " with " +
             counted(tier.tokens, "token") + ", " + bytesText(tier.bytes) + " of " + bytesText(tier.limit);
    }
    return out.empty() ? "no tier is in use" : out;
  }
};
template <class V, Is<StoreReported> X>
void fields(V&& v, X& x) {
  v("tiers", x.tiers);
  v("packs", x.packs);
}

}  // namespace spanscope::trace
