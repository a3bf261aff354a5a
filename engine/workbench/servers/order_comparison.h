// SPDX-License-Identifier: GPL-3.0-or-later
// Compares three ways to send the prompts of queries to a server: as written, in the best order for the
// cache, and as spans. Open this file to change this comparison.
#pragma once

#include "engine/base/ids.h"
#include "engine/plan/plan.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/simulator/order/child_order.h"
#include "engine/simulator/servers.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/servers/server_requests.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace spanscope::workbench {

/// The cached tokens of the prompts of a query.
struct OrderReuse {
  std::int64_t prompt = 0;  ///< all tokens
  std::int64_t asWritten = 0;
  std::int64_t best = 0;        ///< in the best order for the cache
  std::int64_t noteTokens = 0;  ///< tokens of the notes of the best order, which `prompt` does not include
  std::int64_t asSpans = 0;
  bool hasChoice = false;             ///< whether a prompt has a plus with at least two children
  bool isExact = true;                ///< false: a better order may exist
  std::vector<std::string> orders{};  ///< for each request, the children in sent order; empty: no choice.
  std::vector<remote::SentChildren> sent{};  ///< the same children, with their nodes
  MessageOrders messages{};                  ///< the best order of each step with a choice
  std::int64_t bestPrompt() const { return prompt + noteTokens; }
  OrderReuse& operator+=(const OrderReuse& other);
  bool operator==(const OrderReuse&) const = default;
};

/// A cache for spans, without evictions. Each child of a plus is a hit at any place, if the child is stored
/// as a whole. A text outside of every plus is a hit if everything before this text is equal.
class SpanCache {
 public:
  /// Serves a prompt. Returns its cached tokens. The last token of a prompt is always computed.
  std::int64_t serve(const simulator::PromptPart& prompt);

 private:
  /// Returns the key of everything up to the end of the part. `before`: the key of everything that the part
  /// attends to.
  std::uint64_t visit(const simulator::PromptPart& part, std::uint64_t before, std::int64_t& cached,
                      std::int64_t& tokens);

  std::unordered_set<std::uint64_t> m_known;
};

/// Serves queries, one after the other, in each of the three ways. Each way has its own cache.
class OrderComparison {
 public:
  /// The first two caches have the contents of the simulator. `hasOrderNote`: the best order is sent with
  /// the notes of orderNotes().
  OrderComparison(const simulator::Simulator& simulator, SpanCache spans, bool hasOrderNote)
      : m_written(simulator.copy()),
        m_best(simulator.copy()),
        m_spans(std::move(spans)),
        m_hasOrderNote(hasOrderNote) {}

  /// Serves the steps of a plan, as a server without span support gets them. An answer that is not known yet
  /// counts with its max length. `maxTokens`: the limit of answers without another limit. `atOnce`: max
  /// requests at the same time. Throws Failure if a prompt cannot be written.
  OrderReuse serve(const plan::Plan& plan, const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
                   std::int32_t maxTokens, std::size_t atOnce);

 private:
  std::unique_ptr<simulator::Simulator> m_written;
  std::unique_ptr<simulator::Simulator> m_best;
  SpanCache m_spans;
  bool m_hasOrderNote;
  simulator::PartCounts m_counts;
  std::size_t m_steps = 0;  ///< steps so far
};

}  // namespace spanscope::workbench
