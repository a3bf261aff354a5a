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

}  // namespace spanscope::run
