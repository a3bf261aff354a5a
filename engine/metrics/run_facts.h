// SPDX-License-Identifier: GPL-3.0-or-later
// Collects the data of each run from the events of a session. Every metric (metric_table.h) is a function of
// these data. Open this file when a metric needs more data.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/base/shared.h"
#include "engine/metrics/meters.h"
#include "engine/metrics/token_account.h"
#include "engine/trace/event.h"
#include "engine/trace/fidelity_metrics.h"
#include "engine/trace/replay.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::metrics {

/// The values of one request, or of all requests of a run. Absent: unknown; an unknown value is never 0.
struct Totals {
  /// How the tokens of the prompts got their keys and values. Absent: a server does not report its hits.
  std::optional<PromptAccount> account{};
  std::optional<std::int64_t> promptTokens{};  ///< used if `account` is not known
  std::optional<std::int64_t> generatedTokens{};
  std::optional<std::int64_t> allocatedBlocks{};
  std::optional<double> timeToFirstToken{};   ///< seconds; for a run, the median over its steps, also in the
                                              ///< next two
  std::optional<double> interTokenLatency{};  ///< seconds
  std::optional<double> queueTime{};          ///< seconds
  std::optional<double> whole{};              ///< seconds from the start of the run to its end
  std::optional<double> prefillRate{};        ///< tokens per second, only for a run
  std::optional<double> decodeRate{};         ///< tokens per second, only for a run
  Metered metered{};
  bool operator==(const Totals&) const = default;
};

/// One prompt of a run.
struct RequestFacts {
  RequestId request = 0;
  NodePath node;                            ///< the node of its step
  SharedList<trace::SegmentInfo> segments;  ///< its span table
  RequestTokens tokens;
  std::optional<trace::RequestAdmitted> admitted;  ///< the first admission
  std::vector<trace::BlockLookedUp> lookups;       ///< the first lookup of each virtual block, in order
  std::optional<double> timeToFirstToken;          ///< seconds, known when its step has ended with a token
};

/// The place of a prompt token in the view.
struct ViewToken {
  std::uint32_t segment = 0;
  std::int32_t local = 0;  ///< index within the segment
  bool operator==(const ViewToken&) const = default;
};

/// Numbers of blocks.
struct BlockCounts {
  std::int64_t lookedUp = 0;
  std::int64_t hit = 0;
  std::int64_t relocated = 0;
  std::int64_t partial = 0;
  std::int64_t missed = 0;
  std::int64_t allocated = 0;
  std::int64_t stored = 0;
  std::int64_t evicted = 0;
  std::int64_t copied = 0;
};

/// The sums of a run over all its requests, from its events.
struct RunValues {
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;  ///< including relocated tokens
  std::int64_t relocatedTokens = 0;
  std::int64_t computedTokens = 0;
  std::int64_t generatedTokens = 0;
  std::optional<double> timeToFirstToken;   ///< seconds; median over the steps that generated a token
  std::optional<double> interTokenLatency;  ///< seconds; median over the steps that generated two tokens or
                                            ///< more
  std::optional<double> whole;              ///< seconds from the start of the run to its end
  bool operator==(const RunValues&) const = default;
};

/// Returns the values of `run`, which must belong to `progress`.
RunValues valuesOf(const trace::Progress& progress, const trace::RunState& run);

struct RunFacts {
  RunId run = 0;
  std::string model;  ///< the model's name without its folder
  std::string policy;
  std::string answer;
  std::optional<trace::RunOutcome> outcome;  ///< set after the end of the run
  std::int32_t layers = 0;
  std::int32_t blockSize = 16;  ///< tokens, at least 1
  std::int64_t poolBlocks = 0;  ///< without the null block
  RunValues measured;
  PromptAccount account;  ///< sum of all prompts
  bool isRemote = false;  ///< whether servers answered some steps; servers do not report blocks and passes.
  /// Whether `account` includes every prompt. A server may not report its hits.
  bool isAccounted = true;
  BlockCounts blocks;
  std::int64_t passes = 0;        ///< forward passes that computed at least one row of the run
  std::int64_t decodePasses = 0;  ///< number of these passes that computed no row of a prompt
  std::int64_t mostRows = 0;      ///< Max rows of the run in one forward pass.
  /// Tokens per second, over the forward passes of the run that compute a prompt.
  std::optional<double> prefillRate;
  /// Tokens per second, over the forward passes of the run that only decode.
  std::optional<double> decodeRate;
  Metered metered{};                    ///< values of all its requests
  std::vector<RequestFacts> requests;   ///< in the order in which they started
  std::optional<LayoutMetrics> layout;  ///< sum of its prompts; absent: every prompt has the exact layout
  std::optional<trace::FidelityMetrics> fidelity;  ///< set after the measurement
};

/// Returns the totals of a run.
Totals totalsOf(const RunFacts& run);
/// Returns how the tokens of one prompt got their keys and values. Nothing before its admission.
std::optional<PromptAccount> accountOf(const RequestFacts& request);
/// Returns the visible tokens of a prompt, in the order of the view.
std::vector<ViewToken> tokensInView(const RequestFacts& request);
/// Returns the visible virtual blocks of a prompt, in the order of the view. Lessons count these blocks from
/// 0.
std::vector<trace::BlockPlace> blocksInView(const RequestFacts& request, std::int32_t blockSize);
/// Returns the block of a token.
trace::BlockPlace blockOf(const ViewToken& token, std::int32_t blockSize);
/// Returns the first local token after the full blocks of a segment. The partial block is empty if the
/// segment has only full blocks.
std::int32_t tailBegin(const trace::SegmentInfo& segment, std::int32_t blockSize);
/// A range of local tokens that belongs to a node or to a node below it.
struct NodeRange {
  std::uint32_t segment = 0;
  std::int32_t begin = 0;
  std::int32_t end = 0;
};
std::vector<NodeRange> rangesOf(const RequestFacts& request, const NodePath& node);

/// Takes the events of one session, in order.
class RunFactsCollector {
 public:
  /// Takes the next event. If the event contradicts earlier events, returns the error. Such an event changes
  /// no sum of the run.
  std::optional<Error> take(const trace::Event& event);
  /// Returns the data of a run. Nothing: the session has no such run.
  std::optional<RunFacts> of(RunId run) const;
  /// Returns the numbers of the runs so far, ascending.
  std::vector<RunId> runs() const;

 private:
  struct Request {
    RunId run = 0;
    RequestFacts facts;
    std::map<trace::BlockPlace, std::size_t> lookedUp;
    std::optional<trace::FidelityMeasured> fidelity;  ///< the newest measurement
    std::optional<trace::LayoutApplied> layout;
  };
  struct Run {
    BlockCounts blocks;
    std::int64_t passes = 0;
    std::int64_t decodePasses = 0;
    std::int64_t mostRows = 0;
    std::int64_t prefillRows = 0;  ///< rows of prompts
    std::int64_t prefillTime = 0;  ///< nanoseconds of the forward passes with such rows
    std::int64_t decodeRows = 0;
    std::int64_t decodeTime = 0;  ///< nanoseconds of the other forward passes
    std::vector<RequestId> requests;
  };

  void take(const trace::BlockLookedUp& block, const trace::Event& event);
  void take(const trace::BatchComputed& batch);

  trace::Replay m_replay;
  Meters m_meters;
  std::int32_t m_blockSize = 16;
  std::int64_t m_poolBlocks = 0;
  std::map<RunId, Run> m_runs;
  std::map<RequestId, Request> m_requests;
};

}  // namespace spanscope::metrics
