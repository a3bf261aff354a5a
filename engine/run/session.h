// SPDX-License-Identifier: GPL-3.0-or-later
// A session: one loaded model with one KV pool. Documents, the command line and servers are its clients.
#pragma once

#include "engine/base/ids.h"
#include "engine/run/finished_reply.h"
#include "engine/run/logits_request.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/session_config.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

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

class Predictor;

class Session {
 public:
  /// Everything passed by reference must outlive the session. `tokenizer` and `chat` may be null for sessions
  /// that only run span tables. Throws Failure, e.g. if the KV store cannot be had.
  Session(SessionConfig config, model::Decoder& decoder, compute::Backend& backend,
          const std::string& modelFingerprint, const std::string& modelName, const text::Tokenizer* tokenizer,
          const text::ChatTemplate* chat, trace::Sink& sink);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs a plan to its end on the calling thread, and has other runs in progress go on beside it. Steps that
  /// can run together are batched continuously. Never throws for what the query or the model did wrong, or
  /// for memory that cannot be had: that is in the result and in the trace.
  RunResult run(const plan::Plan& plan, const RunOptions& options, std::stop_token stop = {});

  /// Begins a run, which advance() has go on with all others that are in progress: they share passes and
  /// pool, each with the policy, layout, salt and priority of its options. Returns its number.
  RunId begin(std::shared_ptr<const plan::Plan> plan, RunOptions options, std::stop_token stop = {});
  /// Whether a run is in progress.
  bool isRunning() const;
  /// Computes one pass for the runs in progress. A run that is stopped ends within it where all have been
  /// stopped, and else behind it. Never throws, as run().
  void advance();
  /// The result of a run that has ended, once; nothing while it is in progress, or where there is none.
  std::optional<RunResult> take(RunId run);

  /// Computes one span table through the cache. Throws Failure if it does not fit, and while a run is in
  /// progress. Whatever is thrown, the session can be used as before.
  LogitsResult logits(const LogitsRequest& request, std::stop_token stop = {});

  /// Has what can be found outlive the session, where the config has a folder for that, in the background: a
  /// run does so at its end, unless it was stopped. What waits for the disk is held in memory up to
  /// SpanStoreConfig::waitingBytes; what is beyond stays in the pool until one of the next hands it over.
  /// What goes wrong is a warning in the trace.
  void startKeeping();
  /// Goes on with it for so long. True when there is nothing left to do.
  bool keepFor(std::chrono::milliseconds most);
  /// Goes on until all of it is on the disk, or `stop`; then the rest is left. So does the session's end,
  /// which cannot be stopped; a run that was stopped leaves the rest as well.
  void finishKeeping(const std::stop_token& stop = {});
  /// Starts it and goes on until then.
  void keepAll(const std::stop_token& stop = {});

  /// Puts a reply through the model once more, its tokens given, and sends what each of its rows looked at:
  /// AttentionReplayed and a ReplayedMass a row. Keys and values of the prompt are those in the cache; what
  /// was evicted is computed again, and may evict others as a run does. Nothing that can be found changes,
  /// and no later answer. What else the trace tells of it belongs to no run. Throws Failure if there is no
  /// such layer or head, if the prompt does not fit, if more than kReplayBytes would be seen, or if it was
  /// stopped; then nothing is sent. Not while a run is in progress.
  trace::AttentionReplayed replayAttention(const AttentionReplayRequest& request, std::stop_token stop = {});

  /// Puts a reply through the model once more, its tokens given, and gives what each of them was drawn from,
  /// with the attention of all layers for the first `observedRows` of its rows. What replayAttention() says
  /// of cache, trace and failures holds here, too; nothing is sent of it.
  ReplayedReply replayReply(const FinishedReply& reply, std::int32_t observedRows, std::stop_token stop = {});

  /// Predicts against a copy of the cache as it is now; model, tokenizer and template must outlive it. Throws
  /// Failure if the session has no tokenizer and chat template.
  std::unique_ptr<Predictor> predictor() const;

  /// Empties the cache; not while a run is in progress (see RunOptions::emptyCache).
  void clearCache();
  trace::PoolState dumpPool() const;
  const SessionConfig& config() const;
  /// Runs and requests from now on have larger numbers than these. Not while a run is in progress.
  void countFrom(RunId lastRun, RequestId lastRequest);
  /// Numbers of the newest run and request, or those of the config before there is any.
  RunId lastRun() const;
  RequestId lastRequest() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::run
