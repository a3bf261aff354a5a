// SPDX-License-Identifier: GPL-3.0-or-later
// How a plan is to be run.
#pragma once

#include "engine/base/ids.h"
#include "engine/layout/layouts.h"
#include "engine/policy/choice.h"
#include "engine/run/attention_detail.h"
#include "engine/run/attention_limit.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::run {

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
  std::optional<std::string> salt;  ///< tenant: finds nothing of others; nothing: that of the session
  std::int32_t priority = 0;        ///< of several runs in progress those with a larger one are served first
  std::int32_t maxTokens = 0;       ///< limit for generates that have none; 0: the model's own, else 256
  std::int32_t topK = 0;            ///< 0: off
  float topP = 1;                   ///< 1: off
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

}  // namespace spanscope::run
