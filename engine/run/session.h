// SPDX-License-Identifier: GPL-3.0-or-later
// A session: one loaded model with one KV pool. Documents, the command line and servers are its clients.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/cache/kv_cache.h"
#include "engine/cache/store/span_store.h"
#include "engine/compute/backend.h"
#include "engine/layout/layouts.h"
#include "engine/layout/span_table.h"
#include "engine/model/decoder.h"
#include "engine/plan/plan.h"
#include "engine/policy/policies.h"
#include "engine/run/attention_limit.h"
#include "engine/run/observation.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/sink.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::run {

class Predictor;

struct SessionConfig {
  std::int32_t blockSize = 16;
  std::int32_t blockCount = 2048;               ///< physical blocks, the null block included
  compute::DType kvType = compute::DType::F32;  ///< F32 or BF16
  bool cacheTails = true;
  std::string salt;                ///< tenant
  std::int32_t rowsPerPass = 512;  ///< most rows of one forward pass; at least 1
  /// Where keys and values go that leave the pool or are to outlive the session; off as it is here.
  cache::SpanStoreConfig store = {};
  /// The last numbers that runs and requests of sessions before had: those of this one go on from there, so
  /// that a number means one run among all of them.
  RunId lastRun = 0;
  RequestId lastRequest = 0;
};

/// What was retrieved for an augment of the query, for the trace.
struct RetrievalReport {
  NodePath node;  ///< of the augment
  trace::FragmentsRetrieved found;
  std::vector<std::string> warnings;  ///< sentences
};

struct RunOptions {
  policy::Choice policy{};
  layout::Layout layout = layout::Layout::Exact;
  std::uint64_t seed = 0;
  std::int32_t maxTokens = 0;  ///< limit for generates that have none; 0: the model's own, else 256
  std::int32_t topK = 0;       ///< 0: off
  float topP = 1;              ///< 1: off
  std::vector<std::int32_t> observedLayers;  ///< attention is recorded for these
  AttentionDetail attentionDetail = AttentionDetail::Answer;
  /// For every row of the prompt instead of every query block, and, in a prompt of at most
  /// kMostTokensForSingleKeys tokens, on every key instead of every key block.
  bool observeRows = false;
  /// Asked before every pass, if given. True: the cache is emptied there, and what the requests that run have
  /// in it is computed anew; answers stay the same.
  std::function<bool()> emptyCache;
  /// Most attention that is recorded; the trace says what was left out.
  std::uint64_t attentionBytes = kAttentionBytes;
  std::vector<RetrievalReport> retrieved;  ///< for the trace
  std::string queryJson;                   ///< canonical, for the trace
  std::string explain;                     ///< for the trace
};

struct StepResult {
  StepIndex step = 0;
  RequestId request = 0;
  trace::StepOutcome outcome = trace::StepOutcome::EndToken;
  std::vector<TokenId> tokens;  ///< sampled ids, the end token included if one was
  std::string text;             ///< the answer without what the chat template adds
  trace::StepMetrics metrics;
};

struct RunResult {
  trace::RunOutcome outcome = trace::RunOutcome::Finished;
  std::optional<Error> error;     ///< where outcome is Failed
  std::vector<StepResult> steps;  ///< those that ended, by step
  std::string answer;             ///< text of the result items, joined by newlines
  double seconds = 0;
};

/// Logits of chosen tokens of one span table.
struct LogitsRequest {
  layout::SpanTable table;
  bool everyToken = false;  ///< of every token that has to be computed; else only of the very last one
};
struct LogitsResult {
  std::vector<std::vector<float>> logits;  ///< [vocabularySize] each, in view order
  std::int64_t cachedTokens = 0;
};

/// What a reply was written beside and in view of, where its policy has requests generate together: in the
/// order of their places the members of its team, as the trace tells of them (TeamFormed).
struct Teammates {
  struct Member {
    RequestId request = 0;
    std::vector<trace::SegmentInfo> segments;  ///< of SpanTableLaidOut
    std::vector<TokenId> reply;                ///< of TokenGenerated, in order
  };
  std::vector<Member> members;  ///< the reply's own request among them; empty: it was written by itself
};

/// A finished reply whose attention is to be seen more closely, as the trace tells of it.
struct AttentionReplayRequest {
  RunId run = 0;                             ///< for the events
  RequestId request = 0;                     ///< for the events
  NodePath node;                             ///< for the events
  std::vector<trace::SegmentInfo> segments;  ///< of SpanTableLaidOut
  std::vector<TokenId> reply;                ///< of TokenGenerated, in order
  policy::Choice policy{};                   ///< of the run
  Teammates teammates{};
  std::int32_t layer = 0;
  std::int32_t head = -1;   ///< −1: all
  bool singleKeys = false;  ///< by key token; else by key block
};

/// A finished reply, as the trace tells of it.
struct FinishedReply {
  RunId run = 0;
  RequestId request = 0;
  NodePath node;
  std::vector<trace::SegmentInfo> segments;  ///< of SpanTableLaidOut
  std::vector<TokenId> tokens;               ///< of TokenGenerated, in order
  policy::Choice policy{};                   ///< of RunStarted
  Teammates teammates{};
};

/// What a finished reply was drawn from, as its policy has it.
struct ReplayedReply {
  /// [tokens of the reply][vocabularySize]: each row is the one from which the token was drawn.
  std::vector<std::vector<float>> logits;
  /// By key token, for the first rows alone; of one row after the other in each layer.
  std::vector<trace::AttentionMass> attention;
  std::int64_t cachedTokens = 0;      ///< of the prompt, whose keys and values were still there
  std::int64_t recomputedTokens = 0;  ///< and those that had been evicted and were computed again
};

/// Most bytes of attention that one replay gives.
inline constexpr std::uint64_t kReplayBytes = 64ULL << 20;

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

  /// Runs a plan to its end on the calling thread. Steps that can run together are batched continuously.
  /// Never throws for what the query or the model did wrong, or for memory that cannot be had: that is in the
  /// result and in the trace.
  RunResult run(const plan::Plan& plan, const RunOptions& options, std::stop_token stop = {});

  /// Computes one span table through the cache. Throws Failure if it does not fit. Whatever is thrown, the
  /// session can be used as before.
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
