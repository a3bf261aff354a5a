// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the options of a run and of a session. Open this file to add an option.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/store/span_store.h"
#include "engine/compute/dtype.h"
#include "engine/layout/layouts.h"
#include "engine/policy/choice.h"
#include "engine/run/observation.h"
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

/// The retrieved passages of one augment of the query. The report goes into the trace.
struct RetrievalReport {
  NodePath node;  ///< of the augment
  trace::PassagesRetrieved found;
  std::vector<std::string> warnings;  ///< sentences
};

struct RunOptions {
  policy::Choice policy{};
  layout::Layout layout = layout::Layout::Exact;
  std::uint64_t seed = 0;
  std::optional<std::string>
      salt;  ///< tenant: a run reuses only contents of its own tenant; nothing: the session's salt
  std::int32_t priority = 0;   ///< runs with a larger priority are served first
  std::int32_t maxTokens = 0;  ///< limit of answers without a limit in the query. 0: the model's limit, or
                               ///< 256 without such a limit
  std::int32_t minTokens =
      0;  ///< an end token ends an answer only if the answer has more than this number of tokens
  std::int32_t topK = 0;  ///< 0: off
  float topP = 1;         ///< 1: off
  std::int32_t alternatives =
      0;  ///< number of most likely tokens that are reported for each token of an answer
  std::vector<std::int32_t> observedLayers;  ///< layers whose attention is recorded
  AttentionDetail attentionDetail = AttentionDetail::Answer;
  /// Record attention for every row of the prompt and not for every query block. In a prompt of at most
  /// kMostTokensForSingleKeys tokens, also record attention for every key and not for every key block.
  bool observeRows = false;
  /// If given, this function is called before every forward pass. If the function returns true, the cache is
  /// emptied. Running requests then recompute their cached tokens. Answers stay the same.
  std::function<bool()> emptyCache;
  /// Max bytes of attention that are recorded. The trace reports what was left out.
  std::uint64_t attentionBytes = kAttentionBytes;
  /// The chat template of the run, e.g. a template that continues a text without a change. The template must
  /// outlive the run. Null: the session's template.
  const text::ChatTemplate* chat = nullptr;
  std::vector<RetrievalReport> retrieved;  ///< for the trace
  std::string queryJson;                   ///< canonical, for the trace
  std::string explain;                     ///< for the trace
};

// The settings of a session.

struct SessionConfig {
  std::int32_t blockSize = 16;
  std::int32_t blockCount = 2048;  ///< physical blocks, including the null block
  /// F32 or BF16. Nothing: the type with which attention is fastest on the device. workbench::suited() sets
  /// this type. Without suited(), the type is F32.
  std::optional<compute::DType> kvType = {};
  bool cacheTails = true;
  std::string salt;                ///< tenant
  std::int32_t rowsPerPass = 512;  ///< max rows of one forward pass; at least 1.
  /// The store for keys and values that leave the pool or must outlive the session. The default is off.
  cache::SpanStoreConfig store = {};
  /// The last numbers of runs and requests in earlier sessions. The numbers of this session continue from
  /// there. Each number then identifies one run across all sessions.
  RunId lastRun = 0;
  RequestId lastRequest = 0;
};

}  // namespace spanscope::run
