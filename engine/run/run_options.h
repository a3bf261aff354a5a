// SPDX-License-Identifier: GPL-3.0-or-later
// How a plan is to be run.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/store/span_store.h"
#include "engine/compute/dtype.h"
#include "engine/layout/layouts.h"
#include "engine/policy/choice.h"
#include "engine/run/attention_limit.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::text {
struct ChatTemplate;
}

namespace spanscope::run {

/// What was retrieved for one augment of the query. It goes into the trace.
struct RetrievalReport {
  NodePath node;  ///< of the augment
  trace::FragmentsRetrieved found;
  std::vector<std::string> warnings;  ///< sentences
};

struct RunOptions {
  policy::Choice policy{};
  layout::Layout layout = layout::Layout::Exact;
  std::uint64_t seed = 0;
  std::optional<std::string> salt;  ///< tenant: finds nothing of other tenants; nothing: the session's salt
  std::int32_t priority = 0;        ///< among runs in progress, those with a larger priority are served first
  std::int32_t maxTokens = 0;       ///< limit of generates that have none; 0: the model's limit, else 256
  std::int32_t minTokens = 0;       ///< an end token does not end a reply before it has more tokens than this
  std::int32_t topK = 0;            ///< 0: off
  float topP = 1;                   ///< 1: off
  std::int32_t alternatives = 0;    ///< likeliest tokens that are told for each place of a reply
  std::vector<std::int32_t> observedLayers;  ///< layers whose attention is recorded
  AttentionDetail attentionDetail = AttentionDetail::Answer;
  /// Record attention for every row of the prompt instead of every query block. In a prompt of at most
  /// kMostTokensForSingleKeys tokens, also record it for every key instead of every key block.
  bool observeRows = false;
  /// If given, it is called before every pass. If it returns true, the cache is emptied. What running
  /// requests had in the cache is then computed again; answers stay the same.
  std::function<bool()> emptyCache;
  /// Most bytes of attention that are recorded. The trace says what was left out.
  std::uint64_t attentionBytes = kAttentionBytes;
  /// Writes the prompts in place of the session's template, as for a text that is to be continued as it
  /// stands. It must outlive the run. Null: the session's.
  const text::ChatTemplate* chat = nullptr;
  std::vector<RetrievalReport> retrieved;  ///< for the trace
  std::string queryJson;                   ///< canonical, for the trace
  std::string explain;                     ///< for the trace
};

// The settings of a session.

struct SessionConfig {
  std::int32_t blockSize = 16;
  std::int32_t blockCount = 2048;  ///< physical blocks, the null block included
  /// F32 or BF16. Nothing: the type that suits the device's attention best, as workbench::suited() knows; F32
  /// if nobody asked the device.
  std::optional<compute::DType> kvType = {};
  bool cacheTails = true;
  std::string salt;                ///< tenant
  std::int32_t rowsPerPass = 512;  ///< most rows of one forward pass; at least 1
  /// The store of keys and values that leave the pool or are to outlive the session. By default it is off.
  cache::SpanStoreConfig store = {};
  /// The last numbers of runs and requests in earlier sessions. The numbers of this session go on from there,
  /// so that a number means one run among all sessions.
  RunId lastRun = 0;
  RequestId lastRequest = 0;
};

}  // namespace spanscope::run
