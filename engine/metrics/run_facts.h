// SPDX-License-Identifier: GPL-3.0-or-later
// Gathers what the events of a session say of each of its runs. Every metric (metric_table.h) is a function
// of it.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/base/shared.h"
#include "engine/metrics/layout_metrics.h"
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

/// What one request, or all requests of a run, came to. What is not known is nothing, never 0.
struct Totals {
  /// How the tokens of the prompts got their keys and values. Nothing: a server does not say what it found.
  std::optional<PromptAccount> account{};
  std::optional<std::int64_t> promptTokens{};  ///< where `account` is not known
  std::optional<std::int64_t> generatedTokens{};
  std::optional<std::int64_t> allocatedBlocks{};
  std::optional<double> timeToFirstToken{};  ///< seconds, of a run the median over its steps, as the next two
  std::optional<double> interTokenLatency{};  ///< seconds
  std::optional<double> queueTime{};          ///< seconds
  std::optional<double> whole{};              ///< seconds from the start of the run to its end
  std::optional<double> prefillRate{};        ///< tokens a second, of a run
  std::optional<double> decodeRate{};         ///< tokens a second, of a run
  Metered metered{};
  bool operator==(const Totals&) const = default;
};

/// One prompt of a run.
struct RequestFacts {
  RequestId request = 0;
  NodePath node;                            ///< of its step
  SharedList<trace::SegmentInfo> segments;  ///< its span table
  RequestTokens tokens;
  std::optional<trace::RequestAdmitted> admitted;  ///< the first time
  std::vector<trace::BlockLookedUp> lookups;       ///< of each virtual block the first, in order
  std::optional<double> timeToFirstToken;          ///< seconds, once its step has ended with a token
};

/// A token of a prompt, as its place in the view.
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

/// What the events of a run say of all its requests together.
struct RunValues {
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;  ///< relocated ones included
  std::int64_t relocatedTokens = 0;
  std::int64_t computedTokens = 0;
  std::int64_t generatedTokens = 0;
  std::optional<double> timeToFirstToken;   ///< seconds, median over its steps that made a token
  std::optional<double> interTokenLatency;  ///< seconds, median over its steps that made two or more
  std::optional<double> whole;              ///< seconds from its start to its end
  bool operator==(const RunValues&) const = default;
};

/// `run`: one of `progress`.
RunValues valuesOf(const trace::Progress& progress, const trace::RunState& run);

struct RunFacts {
  RunId run = 0;
  std::string model;  ///< its name, without the folder in which it lies
  std::string policy;
  std::string answer;
  std::optional<trace::RunOutcome> outcome;  ///< once it has ended
  std::int32_t layers = 0;
  std::int32_t blockSize = 16;  ///< tokens, at least 1
  std::int64_t poolBlocks = 0;  ///< without the null block
  RunValues measured;
  PromptAccount account;  ///< of all prompts
  bool isRemote = false;  ///< servers answered some of its steps: blocks and passes of those are not told
  /// Whether `account` is known of every prompt: a server need not say what it found.
  bool isAccounted = true;
  BlockCounts blocks;
  std::int64_t passes = 0;              ///< that computed at least one row of the run
  std::int64_t decodePasses = 0;        ///< of these, those that computed no row of a prompt
  std::int64_t mostRows = 0;            ///< of the run, in one pass
  std::optional<double> prefillRate;    ///< tokens a second, over its passes that compute a prompt
  std::optional<double> decodeRate;     ///< tokens a second, over its passes that only decode
  Metered metered{};                    ///< of all its requests
  std::vector<RequestFacts> requests;   ///< in the order in which they started
  std::optional<LayoutMetrics> layout;  ///< of its prompts; absent: every prompt has the exact layout
  std::optional<trace::FidelityMetrics> fidelity;  ///< once it was measured
};

/// The totals of a run.
Totals totalsOf(const RunFacts& run);
/// How the tokens of one prompt got their keys and values; nothing before it was admitted.
std::optional<PromptAccount> accountOf(const RequestFacts& request);
/// The tokens that stand in a prompt, in view order.
std::vector<ViewToken> tokensInView(const RequestFacts& request);
/// The virtual blocks that stand in a prompt, in view order. Block n of a prompt, as lessons count from 0, is
/// the entry n.
std::vector<trace::BlockPlace> blocksInView(const RequestFacts& request, std::int32_t blockSize);
/// The block of a token.
trace::BlockPlace blockOf(const ViewToken& token, std::int32_t blockSize);
/// The local token from which on a segment fills no block: its tail, which is empty where the tokens are a
/// whole number of blocks.
std::int32_t tailBegin(const trace::SegmentInfo& segment, std::int32_t blockSize);
/// Ranges of local tokens that belong to the node or to one below it, in view order.
struct NodeRange {
  std::uint32_t segment = 0;
  std::int32_t begin = 0;
  std::int32_t end = 0;
};
std::vector<NodeRange> rangesOf(const RequestFacts& request, const NodePath& node);

/// Takes the events of one session, in order.
class RunFactsCollector {
 public:
  /// Returns what contradicts the events before it; such an event changes no sum of the run.
  std::optional<Error> take(const trace::Event& event);
  /// Nothing: the session has had no such run.
  std::optional<RunFacts> of(RunId run) const;
  /// The numbers of the runs so far, ascending.
  std::vector<RunId> runs() const;

 private:
  struct Request {
    RunId run = 0;
    RequestFacts facts;
    std::map<trace::BlockPlace, std::size_t> lookedUp;
    std::optional<trace::FidelityMeasured> fidelity;  ///< the newest
    std::optional<trace::LayoutApplied> layout;
  };
  struct Run {
    BlockCounts blocks;
    std::int64_t passes = 0;
    std::int64_t decodePasses = 0;
    std::int64_t mostRows = 0;
    std::int64_t prefillRows = 0;  ///< of prompts
    std::int64_t prefillTime = 0;  ///< nanoseconds of the passes with such rows
    std::int64_t decodeRows = 0;
    std::int64_t decodeTime = 0;  ///< nanoseconds of the other passes
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
