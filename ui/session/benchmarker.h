// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/model_bundle.h"
#include "ui/session/benchmark.h"
#include "ui/session/engine_host.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace spanscope::ui {

/// Everything that a benchmark needs, as values.
struct BenchmarkRequest {
  BenchmarkKind kind = BenchmarkKind::Query;
  std::int32_t repeats = 7;  ///< 1 … kMostRepeats
  document::RunSettings settings;
  BenchmarkSubject subject;
  /// What is measured, through every stage before planning; where there is a retrieval, it is of that.
  query::Node query;
  std::optional<RetrievalRequest> retrieval;
};

/// What has been found out before anything runs.
Benchmark beginBenchmark(const BenchmarkRequest& request);

/// Carries a benchmark out on a model that is loaded, on the calling thread, in a session with a pool of its
/// own: what other sessions on the model have cached stays as it is. `tell` is called whenever `benchmark`
/// has changed, but for its end. Never throws: what went wrong is in it.
void runBenchmark(Benchmark& benchmark, const BenchmarkRequest& request, workbench::ModelBundle& model,
                  const std::function<void(const Benchmark&)>& tell, const std::stop_token& stop);

/// Lengths of documents from 64 tokens, each twice the one before, that fit into a context of so many tokens.
std::vector<std::int32_t> measurableLengths(std::int64_t contextLength);

}  // namespace spanscope::ui
