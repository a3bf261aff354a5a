// SPDX-License-Identifier: GPL-3.0-or-later
// Field lists of the replayed state, for keyframes in trace files. Open this file to add a field to
// keyframes.
#pragma once

#include "engine/trace/event_fields.h"
#include "engine/trace/replay.h"

#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::trace {

template <>
struct EnumNames<RequestPhase> {
  static constexpr std::array<std::string_view, 4> kNames{"started", "waiting", "running", "finished"};
};

template <class V, Is<BlockPlace> X>
void fields(V&& v, X& x) {
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
}
template <class V, Is<VirtualBlock> X>
void fields(V&& v, X& x) {
  v("block", x.block);
  v("allocated", x.allocated);
  v("outcome", x.outcome);
  v("reason", x.reason);
  v("lookup", x.lookup);
}
template <class V, Is<RequestState> X>
void fields(V&& v, X& x) {
  v("run", x.run);
  v("node", x.node);
  v("step", x.step);
  v("copy", x.copy);
  v("phase", x.phase);
  v("outcome", x.outcome);
  v("waitReason", x.waitReason);
  v("waitFor", x.waitFor);
  v("segments", x.segments);
  v("blocks", x.blocks);
  v("promptTokens", x.promptTokens);
  v("cachedTokens", x.cachedTokens);
  v("relocatedTokens", x.relocatedTokens);
  v("computedTokens", x.computedTokens);
  v("generatedTokens", x.generatedTokens);
  v("preemptions", x.preemptions);
  v("recomputedTokens", x.recomputedTokens);
  v("text", x.text);
  v("metrics", x.metrics);
  v("startedAt", x.startedAt);
  v("admittedAt", x.admittedAt);
  v("firstTokenAt", x.firstTokenAt);
  v("lastTokenAt", x.lastTokenAt);
  v("finishedAt", x.finishedAt);
  v("complete", x.complete);
}
template <class V, Is<RunState> X>
void fields(V&& v, X& x) {
  v("queryJson", x.queryJson);
  v("policy", x.policy);
  v("seed", x.seed);
  v("retrieved", x.retrieved);
  v("plan", x.plan);
  v("requests", x.requests);
  v("attentionLeftOut", x.attentionLeftOut);
  v("outcome", x.outcome);
  v("answer", x.answer);
  v("startedAt", x.startedAt);
  v("finishedAt", x.finishedAt);
}
template <class V, Is<Progress> X>
void fields(V&& v, X& x) {
  v("program", x.program);
  v("model", x.model);
  v("backend", x.backend);
  v("threads", x.threads);
  v("layers", x.layers);
  v("heads", x.heads);
  v("sequence", x.sequence);
  v("time", x.time);
  v("lost", x.lost);
  v("whole", x.whole);
  v("gap", x.gap);
  v("passes", x.passes);
  v("rows", x.rows);
  v("passTime", x.passTime);
  v("stored", x.stored);
  v("evicted", x.evicted);
  v("copied", x.copied);
  v("preemptions", x.preemptions);
  v("recomputedTokens", x.recomputedTokens);
  v("warnings", x.warnings);
  v("errors", x.errors);
  v("runs", x.runs);
  v("requests", x.requests);
}
template <class V, Is<Keyframe> X>
void fields(V&& v, X& x) {
  v("all", x.all);
  v("progress", x.progress);
  v("sameRuns", x.sameRuns);
  v("sameTables", x.sameTables);
  v("pool", x.pool);
}

/// Fields of the state that later files add.
struct KeyframeReports {
  std::map<RequestId, ServerReported> reported;  ///< RequestState::reported of the requests in the keyframe
  std::vector<std::int32_t> windows;             ///< Progress::windows
};
template <class V, Is<KeyframeReports> X>
void fields(V&& v, X& x) {
  v("reported", x.reported);
  v("windows", x.windows);
}

}  // namespace spanscope::trace
