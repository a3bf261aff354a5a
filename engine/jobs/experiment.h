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
};
template <class V, trace::Is<OwnQuery> X>
void fields(V&& v, X& x) {
  v("query", x.query);
  v("name", x.name);
}
std::optional<OwnQuery> ownQueryOf(const std::shared_ptr<const experiment::OwnDocuments>& documents);
/// Throws Failure if the query has no such documents.
std::shared_ptr<const experiment::OwnDocuments> ownDocumentsOf(const std::optional<OwnQuery>& own);

}  // namespace spanscope::jobs

namespace spanscope::trace {
template <>
struct EnumNames<experiment::DocumentSource> {
  static constexpr std::array<std::string_view, 2> kNames{"made", "own"};
};
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
template <class V, trace::Is<ExperimentPoint> X>
void fields(V&& v, X& x) {
  v("series", x.series);
  v("x", x.x);
  v("y", x.y);
  v("samples", x.samples);
}
template <class V, trace::Is<SpeedSample> X>
void fields(V&& v, X& x) {
  v("promptTokens", x.promptTokens);
  v("promptSeconds", x.promptSeconds);
  v("generatedTokens", x.generatedTokens);
  v("generatedSeconds", x.generatedSeconds);
}
template <class V, trace::Is<ExperimentResult> X>
void fields(V&& v, X& x) {
  v("request", x.request);
  v("model", x.model);
  v("machine", x.machine);
  v("points", x.points);
  v("remarks", x.remarks);
  v("done", x.done);
  v("total", x.total);
  v("doing", x.doing);
  v("pace", x.pace);
}
}  // namespace spanscope::experiment
