// SPDX-License-Identifier: GPL-3.0-or-later
// The user's requests for measurements, as arguments of commands and as calls of jobs.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/repeat_run.h"
#include "engine/jobs/benchmark.h"
#include "engine/jobs/job_call.h"
#include "engine/jobs/policy_comparison.h"
#include "ui/session/measured_jobs.h"

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
/// Returns nothing if the text is not such an argument.
std::optional<BenchmarkChoice> readBenchmarkRequest(const QString& text);
/// Makes the call for the benchmark of a document.
jobs::JobCall benchmarkCall(const document::Document& document, BenchmarkChoice choice);
/// "cold", "same order", "order swapped", "floor".
QString caseText(experiment::RunCase runCase);

/// The names of the policies that are compared by default.
std::vector<std::string> usualPolicies();
/// Returns the names that are policies, in the order of the policy table.
std::vector<std::string> knownPolicies(const QStringList& names);
/// Makes the call that keeps these names as the user's choice.
jobs::JobCall policyChoice(const std::vector<std::string>& names);
/// The names that the user chose. Empty: the user chose none.
std::vector<std::string> chosenPolicies(const MeasuredJobs& jobs);
/// The compared policies, as documents write them. The document's policy comes first, with its values. The
/// requested policies have their defaults.
std::vector<std::string> comparedPolicies(const std::string& own, const std::vector<std::string>& wanted);
/// Makes the call for comparing the document's policy with the requested policies.
jobs::JobCall comparisonCall(const document::Document& document, const std::vector<std::string>& wanted);

/// The argument of the command "run.experiment", e.g. "rag;repeats=5". The field "source=own" selects the
/// documents of the current query. The text does not contain ExperimentRequest::own.
QString experimentRequestText(const experiment::ExperimentRequest& request);
/// Returns nothing if the text is not such an argument. experiment::completed() checks the values.
std::optional<experiment::ExperimentRequest> readExperimentRequest(const QString& text);

}  // namespace spanscope::ui
