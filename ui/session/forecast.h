// SPDX-License-Identifier: GPL-3.0-or-later
// What the next run of a document would find in the cache, said before it runs.
#pragma once

#include "engine/experiment/layout_comparison.h"
#include "engine/plan/plan.h"
#include "engine/run/prediction.h"
#include "engine/workbench/document/document_query.h"

#include <cstdint>
#include <optional>
#include <string>

namespace spanscope::ui {

/// Why there is no prediction.
enum class ForecastGap : std::uint8_t {
  None,       ///< there is one
  Asks,       ///< the query asks a question, which is put when it runs
  Retrieves,  ///< the query searches documents, which is done when it runs
  Nothing,    ///< there is no generate
  Problem,    ///< it could not be run either; see `problem`
};

struct Forecast {
  std::uint64_t id = 0;
  ForecastGap gap = ForecastGap::Problem;
  std::string problem;
  std::string queryJson;  ///< canonical, as its run would report it; empty where there is no whole query
  std::string policy;
  std::string layout;
  document::NodePaths paths;       ///< which node of the document each place of the query is
  std::optional<plan::Plan> plan;  ///< with the trees around every pass; also where it generates nothing
  /// Against the cache as it is, or, where a run would start a session, against the one it would start with.
  run::Prediction present;
  run::Prediction empty;       ///< against an empty cache, with nothing in any tier
  bool startsEmpty = false;    ///< a run would start a session: nothing has run yet, or its settings differ
  std::int32_t blockSize = 0;  ///< tokens
  /// Every layout at several block sizes, each against an empty cache, where that was asked for.
  std::optional<experiment::LayoutComparison> layouts;

  bool isKnown() const { return gap == ForecastGap::None; }
};

}  // namespace spanscope::ui
