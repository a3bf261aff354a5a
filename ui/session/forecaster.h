// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/parameters.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/run/session.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/model_bundle.h"
#include "ui/session/forecast.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::ui {

/// Everything that a forecast needs, as values.
struct ForecastRequest {
  std::uint64_t id = 0;  ///< comes back in the forecast
  query::Node query;     ///< as it is run: muted branches left out, frozen answers in place
  document::NodePaths paths;
  std::map<std::string, std::string> parameters;  ///< values by name
  std::vector<query::ParameterDeclaration> declarations{};
  document::RunSettings settings;
  bool comparesLayouts = false;
  std::shared_ptr<query::Surroundings> surroundings;  ///< where files are read, on another thread; never null
};

/// Makes forecasts, on the thread that owns the session.
class Forecaster {
 public:
  /// `session`: the one that a run would go on with; nullptr: it would start one. `loaded` may be null; it
  /// saves reading the model's description again. Never throws for what is wrong with query or model: that is
  /// in the forecast. Nothing if it was stopped.
  std::optional<Forecast> forecast(const ForecastRequest& request, const run::Session* session,
                                   const workbench::ModelBundle* loaded, const std::stop_token& stop);

 private:
  const workbench::ModelBundle& describe(const document::RunSettings& settings,
                                         const workbench::ModelBundle* loaded);

  std::optional<workbench::ModelBundle> m_described;  ///< of a model that is not loaded
};

}  // namespace spanscope::ui
