// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/repeat_run.h"
#include "engine/query/query.h"
#include "engine/retrieve/fragment.h"
#include "engine/workbench/service/indexing.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_clock.h"
#include "engine/workbench/service/policy_comparison.h"
#include "engine/workbench/service/published.h"
#include "engine/workbench/settings.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::workbench {

struct ModelBundle;

/// Everything that a comparison needs, as values.
struct PolicyComparisonRequest {
  std::vector<std::string> policies;  ///< as documents write them, in the order in which they are measured
  RunSettings settings;               ///< its policy is not used
  BenchmarkSubject subject;
  query::Node query;  ///< through every stage before planning
  /// As BenchmarkRequest::retrieve.
  std::function<query::Node(JobContext& place, const retrieve::Watch& watch)> retrieve{};
};

/// Runs a query under several policies. Each has a session of its own with an empty cache: what is open keeps
/// its cache and its trace, and no policy finds what another one computed. What is wrong with one policy is
/// said of it, and the others go on.
class PolicyComparisonJob final : public Job {
 public:
  explicit PolicyComparisonJob(PolicyComparisonRequest request);

  Begun begin(JobContext& place, const std::stop_token& stop) override;

  /// What was measured so far; its state is for the client to say.
  PolicyComparison comparison() const { return m_published.get(); }
  /// How far the index is that it waits for, if it waits for one.
  std::optional<retrieve::IndexProgress> indexing() const { return m_indexing.progress(); }

 private:
  void measure(ModelBundle& model, MeasuredPolicy& policy, const std::stop_token& stop);
  void enter(MeasuredPolicy& policy, PolicyStage stage);
  void tell();

  PolicyComparisonRequest m_request;
  Indexing m_indexing;
  std::vector<experiment::PlannedCase> m_cases;
  JobClock m_clock;
  PolicyComparison m_now;  ///< of the service's thread
  Published<PolicyComparison> m_published;
};

}  // namespace spanscope::workbench
