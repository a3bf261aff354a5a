// SPDX-License-Identifier: GPL-3.0-or-later
// A session: one loaded model with one KV pool. Documents, the command line and servers are its clients. Open
// this file first when you run plans.
#pragma once

#include "engine/base/ids.h"
#include "engine/layout/span_table.h"
#include "engine/policy/compute_plan.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::compute {
class Backend;
}
namespace spanscope::model {
class Decoder;
}
namespace spanscope::plan {
struct Plan;
}
namespace spanscope::text {
struct ChatTemplate;
class Tokenizer;
}  // namespace spanscope::text
namespace spanscope::trace {
class Sink;
}

namespace spanscope::run {

// Logits of one prompt.

/// A request for the logits of chosen tokens of one span table.
struct LogitsRequest {
  layout::SpanTable table;
  policy::ComputePlan rows{};  ///< compute plan of the table
  bool everyToken = false;     ///< true: logits of every token to be computed; false: only of the last token
};
struct LogitsResult {
  std::vector<std::vector<float>> logits;  ///< one row of [vocabularySize] per token, in prompt order
  std::int64_t cachedTokens = 0;
};

class Predictor;

class Session {
 public:
  /// Everything passed by reference must outlive the session. `tokenizer` and `chat` may be null for sessions
  /// that only run span tables. Throws Failure, e.g. if the KV store cannot be allocated.
  Session(SessionConfig config, model::Decoder& decoder, compute::Backend& backend,
          const std::string& modelFingerprint, const std::string& modelName, const text::Tokenizer* tokenizer,
          const text::ChatTemplate* chat, trace::Sink& sink);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs a plan to its end on the calling thread. Other runs in progress continue meanwhile. Steps that can
  /// run together are batched continuously. Faults of the query or the model, and missing memory, do not
  /// throw. The result and the trace report such errors.
  RunResult run(const plan::Plan& plan, const RunOptions& options, std::stop_token stop = {});

  /// Begins a run and returns its number. advance() then computes the run together with all other runs in
  /// progress. The runs share forward passes and the pool. Each run has the policy, layout, salt and priority
  /// of its own options.
  RunId begin(std::shared_ptr<const plan::Plan> plan, RunOptions options, std::stop_token stop = {});
  /// Whether a run is in progress.
  bool isRunning() const;
  /// Computes one forward pass for the runs and the replay in progress. If all runs and the replay are
  /// stopped, the forward pass is interrupted. Otherwise a stopped run ends after the forward pass. Never
  /// throws, like run().
  void advance();
  /// Returns the result of a run that has ended, once. Returns nothing while the run is in progress, or if
  /// there is no such run.
  std::optional<RunResult> take(RunId run);

  /// Computes one span table through the cache. Throws Failure if the table does not fit, or if a run or a
  /// replay is in progress. After any exception, the session is usable as before.
  LogitsResult logits(const LogitsRequest& request, std::stop_token stop = {});

  /// Starts to copy the contents of the cache to the disk, so that the contents outlive the session. The
  /// copying continues in the background and needs a folder in the config. A run calls this at its end,
  /// unless it was stopped. Contents that wait for the disk are in memory, up to
  /// SpanStoreConfig::waitingBytes. The rest stays in the pool until one of the next functions copies it. An
  /// error becomes a warning in the trace.
  void startKeeping();
  /// Continues the copying for at most this time. Returns true when nothing is left to do.
  bool keepFor(std::chrono::milliseconds most);
  /// Continues the copying until everything is on the disk. When the copying is stopped, the rest is not
  /// kept. The destructor also finishes the copying, and cannot be stopped. The end of a stopped run also
  /// ends the copying, without the rest.
  void finishKeeping(const std::stop_token& stop = {});
  /// Starts the copying, and continues as finishKeeping() does.
  void keepAll(const std::stop_token& stop = {});

  /// Recomputes an answer with given tokens, and emits the attention of each row of the answer. The events
  /// are one AttentionReplayed, then one ReplayedMass per row. All other events of the replay belong to no
  /// run. Runs in progress continue meanwhile. Keys and values of the prompt come from the cache. Evicted
  /// blocks are recomputed, which may evict other blocks, as in a run. The hits of the cache do not change,
  /// and no later answer changes. Throws Failure and emits nothing in these cases:
  /// - There is no such layer or head.
  /// - The prompt does not fit, or the attention would take more than kReplayBytes.
  /// - The replay was stopped, or another replay is in progress.
  trace::AttentionReplayed replayAttention(const AttentionReplayRequest& request, std::stop_token stop = {});

  /// Begins a replay as in replayAttention(). advance() then computes the replay together with the runs in
  /// progress. The replay shares the forward passes of these runs, like another run. If blocks run out, the
  /// replay is preempted like the newest request. Throws like replayAttention() before it computes.
  void beginReplay(const AttentionReplayRequest& request, std::stop_token stop = {});
  /// Whether a replay that was begun is in progress.
  bool isReplaying() const;
  /// Returns the result of the replay, once, when it has ended. Throws Failure if the replay failed or was
  /// stopped. Returns nothing while the replay is in progress, or if there was no replay.
  std::optional<trace::AttentionReplayed> takeReplay();

  /// Recomputes an answer with given tokens. Returns the logits of each token, and the attention of all
  /// layers for the first `observedRows` rows. No event reports the answer. Cache, trace and failures are as
  /// in replayAttention(). But the attention is not limited to kReplayBytes, and no run and no replay may be
  /// in progress.
  ReplayedAnswer replayAnswer(const FinishedAnswer& answer, std::int32_t observedRows,
                              std::stop_token stop = {});

  /// Makes a predictor with a copy of the current cache. Model, tokenizer and template must outlive the
  /// predictor. Throws Failure if the session has no tokenizer or no chat template.
  std::unique_ptr<Predictor> predictor() const;

  /// Empties the cache. No run may be in progress (see RunOptions::emptyCache).
  void clearCache();
  trace::PoolState dumpPool() const;
  const SessionConfig& config() const;
  /// Later runs and requests get larger numbers than the given ones. No run may be in progress.
  void countFrom(RunId lastRun, RequestId lastRequest);
  /// Returns the numbers of the newest run and request. If there is no run or request yet, returns the number
  /// of the config.
  RunId lastRun() const;
  RequestId lastRequest() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::run
