// SPDX-License-Identifier: GPL-3.0-or-later
// A scheduler with a cache and without a model. Each sampled token depends only on its place in the answer.
#pragma once

#include "engine/layout/span_table.h"
#include "engine/metrics/meters.h"
#include "engine/run/computation.h"
#include "engine/run/request_options.h"
#include "engine/run/scheduler.h"
#include "tests/engine/cache/cache_fixture.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace spanscope::behaviour {

class QuietModel final : public run::Computation, public run::RequestListener {
 public:
  explicit QuietModel(const cache::CacheConfig& config, std::int32_t rowsPerPass = 512)
      : sink(config), cache(config, sink), scheduler(*this, cache, sink, *this, rowsPerPass, {}) {
    sink.onEvent = [this](const trace::Event& event) { rates.take(event); };
  }

  /// Submits a prompt of one segment.
  RequestId submit(RunId run, std::vector<TokenId> tokens, std::int32_t maxNewTokens) {
    layout::SpanTable table;
    table.segments.resize(1);
    table.segments[0].runs = {{.count = static_cast<std::int32_t>(tokens.size()), .node = {}}};
    table.segments[0].tokens = std::move(tokens);
    run::RequestOptions options;
    options.run = run;
    options.maxNewTokens = maxNewTokens;
    return scheduler.submit(std::move(table), std::move(options));
  }
  /// Runs passes until nothing is left to do.
  void runAll() {
    while (scheduler.pass({}) == run::Scheduler::Progress::Computed) {
    }
  }

  model::ForwardResult forward(const model::Batch& batch, std::span<const std::int32_t> /*most*/,
                               std::stop_token stop) override {
    if (inFlight) inFlight();
    model::ForwardResult result;
    result.stopped = stop.stop_requested();
    for (const auto& draw : batch.draws)
      result.tokens.push_back({.token = static_cast<TokenId>(5000 + draw.index)});
    return result;
  }
  void copyBlocks(std::span<const cache::BlockCopy> /*copies*/) override {}
  std::int32_t vocabularySize() const override { return 0; }
  std::int32_t heads() const override { return 0; }

  void onAdmitted(RequestId request, const cache::Admission& /*admission*/) override {
    admitted.push_back(request);
  }
  void onPreempted(RequestId request) override { preempted.push_back(request); }
  void onLogits(RequestId, std::span<const float>) override {}
  void onToken(RequestId request, std::int32_t, const run::SampledToken& token,
               std::vector<float> /*segmentMass*/) override {
    answers[request].push_back(token.token);
  }
  void onFinished(RequestId request, trace::StepOutcome outcome) override { outcomes[request] = outcome; }
  void onFailed(RequestId request, const Error& failure) override { errors.emplace(request, failure); }

  cache::test::ReplayingSink sink;
  cache::KvCache cache;
  run::Scheduler scheduler;
  metrics::HitRates rates;
  std::function<void()> inFlight;  ///< called while a pass is computed
  std::vector<RequestId> admitted;
  std::vector<RequestId> preempted;
  std::map<RequestId, std::vector<TokenId>> answers;
  std::map<RequestId, trace::StepOutcome> outcomes;
  std::map<RequestId, Error> errors;
};

}  // namespace spanscope::behaviour
