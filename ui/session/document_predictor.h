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

// A prediction shows, before the next run of a document, what the run would reuse from the cache. A
// prediction depends on the current document and the current cache. A change of the document or the cache
// replaces the prediction, so no trace has an event for the prediction.

/// The reason why there is no prediction.
enum class PredictionGap : std::uint8_t {
  None,       ///< there is a prediction
  Asks,       ///< the query asks the user a question during the run
  Retrieves,  ///< the query searches documents during the run
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
  /// The plan has the trees before and after every pass of the planner. The plan exists even if the query has
  /// no generate node.
  std::optional<plan::Plan> plan;
  /// The prediction with the current cache. If a run would start a new session: with the cache at the start
  /// of that session.
  run::Prediction present;
  run::Prediction empty;  ///< the prediction with an empty cache and empty tiers.
  /// A run would start a new session, because nothing has run yet or the settings differ.
  bool startsEmpty = false;
  std::int32_t blockSize = 0;  ///< tokens
  /// Every layout at several block sizes, each with an empty cache. Only present on request.
  std::optional<experiment::LayoutComparison> layouts;
  std::string model;                ///< RunSettings::model
  std::optional<Error> modelError;  ///< why that model cannot be opened; nothing: no problem
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
  bool isPending = false;   ///< `newest` is out of date, and a new prediction is being made
  bool isWithheld = false;  ///< a question of a lesson waits for an answer that the prediction contains
  /// Whether node cards show the prediction. In a lesson, the cards would contain answers to later questions.
  bool isOnCards = true;
  /// The prediction whose token counts of texts are valid for the document, also if the rest is withheld.
  /// Null: not known yet.
  std::shared_ptr<const DocumentPrediction> counted{};
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
  /// `session` is the session that a run would continue; nullptr if a run would start a new session. `loaded`
  /// is the loaded model, or null. If `loaded` is not null, the model's description is not read. The
  /// prediction contains faults of the query or the model; the function does not throw these faults. Returns
  /// nothing when it is stopped.
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
