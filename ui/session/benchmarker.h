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
  /// The query to measure, after every stage before planning. If there is a `retrieval`, that request's query
  /// is measured instead.
  query::Node query;
  std::optional<RetrievalRequest> retrieval;
};

/// The benchmark before anything runs: it only holds what was asked for.
Benchmark beginBenchmark(const BenchmarkRequest& request);

/// Carries out a benchmark on a loaded model, on the calling thread. It opens a session with a pool of its
/// own, so it leaves the caches of other sessions on the model as they are. It calls `tell` whenever
/// `benchmark` has changed, but not at the end. It never throws: `benchmark.problem` says what went wrong.
void runBenchmark(Benchmark& benchmark, const BenchmarkRequest& request, workbench::ModelBundle& model,
                  const std::function<void(const Benchmark&)>& tell, const std::stop_token& stop);

/// The lengths of documents that fit into a context of `contextLength` tokens: from 64 to 4096 tokens, each
/// twice the one before.
std::vector<std::int32_t> measurableLengths(std::int64_t contextLength);

}  // namespace spanscope::ui
