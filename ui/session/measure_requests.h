// SPDX-License-Identifier: GPL-3.0-or-later
// What the user asks for of measurements, as arguments of commands and as calls of jobs.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/repeat_run.h"
#include "engine/jobs/benchmark.h"
#include "engine/jobs/job_call.h"
#include "engine/jobs/policy_comparison.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

using jobs::Benchmark;
using jobs::BenchmarkChoice;
using jobs::BenchmarkKind;
using jobs::MeasuredLength;
using jobs::MeasuredPolicy;
using jobs::PolicyComparison;

inline constexpr std::int32_t kMostBenchmarkRepeats = 100;

/// The argument of the command "run.benchmark": "query:7", "lengths:3".
QString benchmarkRequest(const BenchmarkChoice& choice);
/// Returns nothing if the text is no such argument.
std::optional<BenchmarkChoice> readBenchmarkRequest(const QString& text);
/// The benchmark of a document.
jobs::JobCall benchmarkCall(const document::Document& document, BenchmarkChoice choice);
/// "cold", "same order", "order swapped", "floor".
QString caseText(experiment::RunCase runCase);

/// The argument of the command "run.policies": "run", or "choose:prefix;link".
struct PolicyRequest {
  bool starts = false;               ///< the comparison
  std::optional<QStringList> names;  ///< the policies to compare from now on, beside the document's own
  bool operator==(const PolicyRequest&) const = default;
};
QString policyRequest(const PolicyRequest& request);
/// A text that is no such argument asks for nothing.
PolicyRequest readPolicyRequest(const QString& text);
/// The names of the policies that are compared by default.
std::vector<std::string> usualPolicies();
/// Those of the names that are policies, in the order in which policies are offered.
std::vector<std::string> knownPolicies(const QStringList& names);
/// The policies that are compared, as documents write them. The document's own policy comes first, with its
/// values. The wanted ones have their defaults.
std::vector<std::string> comparedPolicies(const std::string& own, const std::vector<std::string>& wanted);
/// The comparison of a document's own policy with the wanted ones.
jobs::JobCall comparisonCall(const document::Document& document, const std::vector<std::string>& wanted);

/// The argument of the command "run.experiment", e.g. "rag;repeats=5". Its part "source=own" means the
/// documents of the current query. It does not hold ExperimentRequest::own.
QString experimentRequestText(const experiment::ExperimentRequest& request);
/// The argument that only asks how long the experiment would take.
QString experimentEstimateText(const QString& request);
/// The text of the wish in such an argument; null: the text is none.
QString askedEstimate(const QString& text);
/// Returns nothing if the text is no such argument. It does not check the values: experiment::completed()
/// does that.
std::optional<experiment::ExperimentRequest> readExperimentRequest(const QString& text);

}  // namespace spanscope::ui
