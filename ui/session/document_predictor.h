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

// A prediction shows, before the next run of a document, what the run would reuse from the cache. It follows
// from the current document and the current cache. A change of either one replaces it, so it is not an event
// of a trace.

/// The reason why there is no prediction.
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
  std::string queryJson;  ///< canonical, as a run would report it; empty if the query is incomplete
  std::string policy;
  std::string layout;
  document::NodePaths paths;  ///< the document's node for each place of the query.
  /// Has the trees before and after every pass of the planner. Also present if the query has no generate
  /// node.
  std::optional<plan::Plan> plan;
  /// With the present cache. If a run would start a new session, with the cache at the start of that session.
  run::Prediction present;
  run::Prediction empty;  ///< with an empty cache and empty tiers.
  /// A run would start a new session, because nothing has run yet or the settings differ.
  bool startsEmpty = false;
  std::int32_t blockSize = 0;  ///< tokens
  /// Every layout at several block sizes, each with an empty cache. Only present on request.
  std::optional<experiment::LayoutComparison> layouts;
  std::string model;                ///< RunSettings::model
  std::optional<Error> modelError;  ///< the reason why that model cannot be opened; nothing: it can
  run::PlanFit fit;                 ///< whether the run fits, independent of the content of the cache.
  /// If the run does not fit: the prompts of steps without a prediction. Only steps that need no answer are
  /// included.
  std::vector<std::pair<StepIndex, layout::SpanTable>> unfit;

  bool isKnown() const { return gap == PredictionGap::None; }
};

/// The predictions for the next run of a document.
struct PredictionState {
  std::shared_ptr<const DocumentPrediction> newest{};  ///< null: not known yet, or a recorded run is shown.
  /// The last known prediction before `newest`, for a comparison; may be null.
  std::shared_ptr<const DocumentPrediction> before{};
  bool isPending = false;  ///< `newest` is out of date, and a new one is being made
  bool operator==(const PredictionState&) const = default;
};

/// Everything that a prediction needs, as values.
struct PredictionRequest {
  std::uint64_t id = 0;  ///< the prediction has the same id
  query::Node query;     ///< as it runs: without muted branches, with the texts of frozen answers
  document::NodePaths paths;
  std::map<std::string, std::string> parameters;  ///< values by name
  std::vector<query::ParameterDeclaration> declarations{};
  document::RunSettings settings;
  bool comparesLayouts = false;
  std::shared_ptr<query::Surroundings> surroundings;  ///< reads files, on another thread; never null
};

/// Makes predictions, on the thread that owns the session.
class DocumentPredictor {
 public:
  /// `session` is the session that a run would continue; nullptr if a run would start a new one. `loaded` is
  /// the loaded model, or null. It avoids reading the model's description. Faults of the query or the model
  /// are not thrown; they are in the prediction. Returns nothing after a stop.
  std::optional<DocumentPrediction> predict(const PredictionRequest& request, const run::Session* session,
                                            const workbench::ModelBundle* loaded,
                                            const std::stop_token& stop);

 private:
  /// Like describe(). If the model cannot be opened, the prediction also gets the reason.
  const workbench::ModelBundle& openModel(const document::RunSettings& settings,
                                          const workbench::ModelBundle* loaded,
                                          DocumentPrediction& prediction);
  const workbench::ModelBundle& describe(const document::RunSettings& settings,
                                         const workbench::ModelBundle* loaded);

  std::optional<workbench::ModelBundle> m_described;  ///< the description of a model that is not loaded
};

}  // namespace spanscope::ui
