// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the job of an experiment (engine/experiment/experiment.h). The other models of its request are
// loaded beside the model of the settings, one after the other. Only one experiment runs at a time. Open this
// file to change how an experiment starts.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/own_documents.h"
#include "engine/jobs/measuring_job.h"
#include "engine/trace/part_fields.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::jobs {

struct ExperimentJob {
  static constexpr const char* kId = "experiment";
  static constexpr Scope kScope = Scope::Program;
  using Arguments = experiment::ExperimentRequest;
  using Result = experiment::ExperimentResult;

  static bool takesQuery(const Arguments& request) {
    return request.source == experiment::DocumentSource::Own;
  }
  /// Adds missing values and the documents from the query of the input. An augment finds its documents when
  /// the job runs.
  static Arguments completed(Arguments request, const JobInput& input);
  static bool isSound(const Result& result);
  /// Counts the computations with the model. Nothing for several models, or if the documents are not known
  /// yet.
  static std::optional<experiment::TokenAmount> amount(const Arguments& request, const EstimateFacts& facts);
  static Result begun(const Arguments& request);
  static double progress(const Result& result) { return result.progress(); }
  static trace::EventWords activity(const Result& result);
  static void measure(Result& result, const Arguments& request, Measurement& at);
};

/// The documents of a query, as its JSON and its name.
struct OwnQuery {
  std::string query;  ///< in canonical JSON
  std::string name;
  bool operator==(const OwnQuery&) const = default;
};
SPANSCOPE_FIELDS(OwnQuery, query, name);
std::optional<OwnQuery> ownQueryOf(const std::shared_ptr<const experiment::OwnDocuments>& documents);
/// Throws Failure if the query has no such documents.
std::shared_ptr<const experiment::OwnDocuments> ownDocumentsOf(const std::optional<OwnQuery>& own);

}  // namespace spanscope::jobs

namespace spanscope::trace {
SPANSCOPE_NAMES(experiment::DocumentSource, "made", "own");
}  // namespace spanscope::trace

namespace spanscope::experiment {
template <class V, trace::Is<ExperimentRequest> X>
void fields(V&& v, X& x) {
  v("experiment", x.experiment);
  v("values", x.values);
  v("repeats", x.repeats);
  v("seed", x.seed);
  v("source", x.source);
  std::optional<jobs::OwnQuery> own = jobs::ownQueryOf(x.own);
  v("own", own);
  if constexpr (!std::is_const_v<X>) x.own = jobs::ownDocumentsOf(own);
  v("expected", x.expected);
}
SPANSCOPE_FIELDS(ExperimentPoint, series, x, y, samples);
SPANSCOPE_FIELDS(SpeedSample, promptTokens, promptSeconds, generatedTokens, generatedSeconds);
SPANSCOPE_FIELDS(ExperimentResult, request, model, machine, points, remarks, done, total, doing, pace);
}  // namespace spanscope::experiment
