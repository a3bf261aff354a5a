// SPDX-License-Identifier: GPL-3.0-or-later
// A forecast says what the next run of a document would find in the cache, before it runs.
#pragma once

#include "engine/experiment/layout_comparison.h"
#include "engine/layout/span_table.h"
#include "engine/plan/plan.h"
#include "engine/run/plan_progress.h"
#include "engine/run/prediction.h"
#include "engine/workbench/document/document_query.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {

/// Why there is no prediction.
enum class ForecastGap : std::uint8_t {
  None,       ///< there is a prediction
  Asks,       ///< the query asks the person a question when it runs
  Retrieves,  ///< the query searches documents when it runs
  Nothing,    ///< the query has no generate node
  Problem,    ///< the query could not be run; see `problem`
};

struct Forecast {
  std::uint64_t id = 0;
  ForecastGap gap = ForecastGap::Problem;
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

  bool isKnown() const { return gap == ForecastGap::None; }
};

}  // namespace spanscope::ui
