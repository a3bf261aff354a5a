// SPDX-License-Identifier: GPL-3.0-or-later
// A session: one loaded model with one KV pool. Documents, the command line and servers are its clients.
#pragma once

#include "engine/base/ids.h"
#include "engine/layout/span_table.h"
#include "engine/policy/row_plan.h"
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

/// Asks for the logits of chosen tokens of one span table.
struct LogitsRequest {
  layout::SpanTable table;
  policy::RowPlan rows{};   ///< row plan of the table
  bool everyToken = false;  ///< true: of every token that has to be computed; false: of the last token only
};
struct LogitsResult {
  std::vector<std::vector<float>> logits;  ///< one row of [vocabularySize] a token, in view order
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

  /// Runs a plan to its end on the calling thread. Other runs in progress go on beside it. Steps that can run
  /// together are batched continuously. Never throws for what the query or the model did wrong, or for lack
  /// of memory: the result and the trace tell it.
  RunResult run(const plan::Plan& plan, const RunOptions& options, std::stop_token stop = {});

  /// Begins a run and returns its number. advance() then computes it together with all other runs in
  /// progress. The runs share passes and pool; each has the policy, layout, salt and priority of its own
  /// options.
  RunId begin(std::shared_ptr<const plan::Plan> plan, RunOptions options, std::stop_token stop = {});
  /// Whether a run is in progress.
  bool isRunning() const;
  /// Computes one pass for the runs and the replay in progress. If all of them have been stopped, they end
  /// within the pass; otherwise a stopped run ends after it. Never throws, like run().
  void advance();
  /// Returns the result of a run that has ended, once. Returns nothing while the run is in progress, or if
  /// there is no such run.
  std::optional<RunResult> take(RunId run);

  /// Computes one span table through the cache. Throws Failure if the table does not fit, or if a run or a
  /// replay is in progress. After any exception, the session can be used as before.
  LogitsResult logits(const LogitsRequest& request, std::stop_token stop = {});

  /// Starts to keep what can be found in the cache, so that it outlives the session. Keeping goes on in the
  /// background and needs a folder in the config. A run calls this at its end, unless it was stopped. What
  /// waits for the disk is held in memory, up to SpanStoreConfig::waitingBytes. The rest stays in the pool
  /// until one of the next functions hands it over. An error becomes a warning in the trace.
  void startKeeping();
  /// Goes on with keeping for at most this long. Returns true when nothing is left to do.
  bool keepFor(std::chrono::milliseconds most);
  /// Goes on with keeping until everything is on the disk. On a stop, the rest is not kept. The end of the
  /// session does the same, but cannot be stopped. After a run that was stopped, the rest is not kept either.
  void finishKeeping(const std::stop_token& stop = {});
  /// Starts to keep, and goes on as finishKeeping() does.
  void keepAll(const std::stop_token& stop = {});

  /// Puts a reply through the model once more, with its tokens given, and sends what each of its rows looked
  /// at: one AttentionReplayed, then one ReplayedMass a row. Keys and values of the prompt are taken from the
  /// cache. Evicted ones are computed again, which may evict others, as a run does. What can be found in the
  /// cache does not change, and no later answer changes. All other events of the replay belong to no run.
  /// Runs in progress go on beside it. Throws Failure if there is no such layer or head, if the prompt does
  /// not fit, if the attention would take more than kReplayBytes, if the replay was stopped, or if another
  /// replay is in progress; then nothing is sent.
  trace::AttentionReplayed replayAttention(const AttentionReplayRequest& request, std::stop_token stop = {});

  /// Begins what replayAttention() does. advance() then computes it together with the runs in progress: its
  /// rows share their passes, as those of one more run would, and it gives way for want of blocks as the
  /// youngest request does. Throws what replayAttention() throws before it computes.
  void beginReplay(const AttentionReplayRequest& request, std::stop_token stop = {});
  /// Whether a replay that was begun is in progress.
  bool isReplaying() const;
  /// Returns what came of the replay, once, when it has ended. Throws Failure where it failed or was stopped.
  /// Returns nothing while it is in progress, or if there was none.
  std::optional<trace::AttentionReplayed> takeReplay();

  /// Puts a reply through the model once more, with its tokens given. Returns what each token was drawn from,
  /// with the attention of all layers for the first `observedRows` rows. No event tells of the reply. For
  /// cache, trace and failures, the same holds as for replayAttention(), but the attention is not limited to
  /// kReplayBytes, and no run and no replay may be in progress.
  ReplayedReply replayReply(const FinishedReply& reply, std::int32_t observedRows, std::stop_token stop = {});

  /// Makes a predictor with a copy of the cache as it is now. Model, tokenizer and template must outlive the
  /// predictor. Throws Failure if the session has no tokenizer or no chat template.
  std::unique_ptr<Predictor> predictor() const;

  /// Empties the cache. Not while a run is in progress (see RunOptions::emptyCache).
  void clearCache();
  trace::PoolState dumpPool() const;
  const SessionConfig& config() const;
  /// Later runs and requests have larger numbers than these. Not while a run is in progress.
  void countFrom(RunId lastRun, RequestId lastRequest);
  /// Numbers of the newest run and request; before there are any, the numbers of the config.
  RunId lastRun() const;
  RequestId lastRequest() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::run
