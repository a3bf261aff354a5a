// SPDX-License-Identifier: GPL-3.0-or-later
// A finished reply that is put through the model once more, beside whatever else the scheduler computes.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/cache/kv_cache.h"
#include "engine/layout/span_table.h"
#include "engine/run/drive_plan.h"
#include "engine/run/request_options.h"
#include "engine/run/scheduler.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace spanscope::run {

/// The requests of one replay: first those of the reply's teammates, if it has any, then its own. It takes
/// what the scheduler tells of them.
class ReplayedRequests final : public PlanSteps {
 public:
  struct Prompt {
    layout::SpanTable table;
    RequestOptions options;
  };
  /// `prompts`: the reply's own is the last; at least one.
  explicit ReplayedRequests(std::vector<Prompt> prompts);

  bool hasNext() const override;
  bool submitNext(Scheduler& scheduler) override;
  bool done() const override;
  std::size_t ended() const override { return m_ended; }
  const std::optional<Error>& error() const override { return m_error; }

  bool has(RequestId request) const { return m_requests.contains(request); }
  void onAdmitted(RequestId request, const cache::Admission& admission);
  /// A request that gives way is computed again from its first row on.
  void onPreempted(RequestId request);
  void onReplayed(trace::AttentionMass mass) { m_rows.push_back(std::move(mass)); }
  void onFinished() { ++m_ended; }
  void onFailed(const Error& error) { m_error = error; }

  /// Tokens of the reply's prompt that were still in the cache when its request was first admitted.
  std::int64_t cachedTokens() const { return m_cachedTokens.value_or(0); }
  /// The attention of the rows of the reply, in order.
  std::vector<trace::AttentionMass> takeRows() { return std::move(m_rows); }

 private:
  std::vector<Prompt> m_prompts;
  std::size_t m_submitted = 0;
  std::size_t m_ended = 0;
  std::set<RequestId> m_requests;
  RequestId m_own = 0;  ///< of the reply itself; 0: not submitted yet
  std::optional<std::int64_t> m_cachedTokens;
  std::vector<trace::AttentionMass> m_rows;
  std::optional<Error> m_error;
};

}  // namespace spanscope::run
