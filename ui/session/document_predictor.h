// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/layout_comparison.h"
#include "engine/layout/span_table.h"
#include "engine/plan/plan.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/run/drive_plan.h"
#include "engine/run/prediction.h"
#include "engine/run/session.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/model_bundle.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {

// A prediction says what the next run of a document would find in the cache, before it runs. It follows from
// the document and the cache as they are now, and is replaced when one of them changes. So it is no event of
// a trace.

/// Why there is no prediction.
enum class PredictionGap : std::uint8_t {
  None,       ///< there is a prediction
  Asks,       ///< the query asks the user a question when it runs
  Retrieves,  ///< the query searches documents when it runs
  Nothing,    ///< the query has no generate node
  Problem,    ///< the query could not be run; see `problem`
};

struct DocumentPrediction {
  std::uint64_t id = 0;
  PredictionGap gap = PredictionGap::Problem;
  std::string problem;
  std::string queryJson;  ///< canonical, as a run would report it; empty if the query is not complete
  std::string policy;
  std::string layout;
  document::NodePaths paths;  ///< the document's node for each place of the query
  /// With the trees before and after every pass; also present if it has no generate step.
  std::optional<plan::Plan> plan;
  /// Against the present cache. If a run would start a new session, against the cache with which that session
  /// would start.
  run::Prediction present;
  run::Prediction empty;  ///< against an empty cache, with nothing in any tier
  /// A run would start a new session, because nothing has run yet or the settings differ.
  bool startsEmpty = false;
  std::int32_t blockSize = 0;  ///< tokens
  /// Every layout at several block sizes, each against an empty cache. Only present if it was asked for.
  std::optional<experiment::LayoutComparison> layouts;
  std::string model;                ///< RunSettings::model
  std::optional<Error> modelError;  ///< why that model cannot be opened; nothing: it can
  run::PlanFit fit;                 ///< whether the run fits, whatever the cache holds
  /// If it does not fit: the prompts that hold no answer, of steps that are not predicted.
  std::vector<std::pair<StepIndex, layout::SpanTable>> unfit;

  bool isKnown() const { return gap == PredictionGap::None; }
};

/// What is predicted of the next run of a document.
struct PredictionState {
  std::shared_ptr<const DocumentPrediction> newest{};  ///< null: not known yet, or a recorded run is shown
  /// The last known prediction before it, to compare with; may be null.
  std::shared_ptr<const DocumentPrediction> before{};
  bool isPending = false;  ///< `newest` is out of date, and a new one is being made
  bool operator==(const PredictionState&) const = default;
};

/// Everything that a prediction needs, as values.
struct PredictionRequest {
  std::uint64_t id = 0;  ///< the prediction has the same id
  query::Node query;     ///< as it is run: without muted branches, with frozen answers in place
  document::NodePaths paths;
  std::map<std::string, std::string> parameters;  ///< values by name
  std::vector<query::ParameterDeclaration> declarations{};
  document::RunSettings settings;
  bool comparesLayouts = false;
  std::shared_ptr<query::Surroundings> surroundings;  ///< reads files, on another thread; never null
};

/// Makes predictions. It is used on the thread that owns the session.
class DocumentPredictor {
 public:
  /// `session` is the session that a run would continue; nullptr if a run would start a new one. `loaded`
  /// saves reading the model's description again; it may be null. What is wrong with the query or the model
  /// is not thrown: the prediction holds it. Returns nothing if it was stopped.
  std::optional<DocumentPrediction> predict(const PredictionRequest& request, const run::Session* session,
                                            const workbench::ModelBundle* loaded,
                                            const std::stop_token& stop);

 private:
  /// As describe(). If the model cannot be opened, the prediction also says why.
  const workbench::ModelBundle& openModel(const document::RunSettings& settings,
                                          const workbench::ModelBundle* loaded,
                                          DocumentPrediction& prediction);
  const workbench::ModelBundle& describe(const document::RunSettings& settings,
                                         const workbench::ModelBundle* loaded);

  std::optional<workbench::ModelBundle> m_described;  ///< of a model that is not loaded
};

}  // namespace spanscope::ui
