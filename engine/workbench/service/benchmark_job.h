// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query.h"
#include "engine/retrieve/fragment.h"
#include "engine/workbench/service/benchmark.h"
#include "engine/workbench/service/indexing.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_clock.h"
#include "engine/workbench/service/published.h"
#include "engine/workbench/settings.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

namespace spanscope::workbench {

struct ModelBundle;

/// Everything that a benchmark needs, as values.
struct BenchmarkRequest {
  BenchmarkKind kind = BenchmarkKind::Query;
  std::int32_t repeats = 7;  ///< at least 1
  RunSettings settings;
  BenchmarkSubject subject;
  query::Node query;  ///< what is measured, through every stage before planning
  /// Retrieves for a query that has an augment, when the model is there: what it returns is measured in place
  /// of `query`. May be empty.
  std::function<query::Node(JobContext& place, const retrieve::Watch& watch)> retrieve{};
};

/// Measures a document in a session with a pool of its own: the one that is open keeps its cache and its
/// trace.
class BenchmarkJob final : public Job {
 public:
  explicit BenchmarkJob(BenchmarkRequest request);

  Begun begin(JobContext& place, const std::stop_token& stop) override;

  /// What was measured so far; its state is for the client to say.
  Benchmark benchmark() const { return m_published.get(); }
  /// How far the index is that it waits for, if it waits for one.
  std::optional<retrieve::IndexProgress> indexing() const { return m_indexing.progress(); }

 private:
  void measureQuery(ModelBundle& model, const std::stop_token& stop);
  void measureLengths(ModelBundle& model, const std::stop_token& stop);
  void tell();

  BenchmarkRequest m_request;
  Indexing m_indexing;
  JobClock m_clock;
  Benchmark m_now;  ///< of the service's thread
  Published<Benchmark> m_published;
};

}  // namespace spanscope::workbench
