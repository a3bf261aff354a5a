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
  std::uint64_t id = 0;  ///< the forecast has the same id
  query::Node query;     ///< as it is run: without muted branches, with frozen answers in place
  document::NodePaths paths;
  std::map<std::string, std::string> parameters;  ///< values by name
  std::vector<query::ParameterDeclaration> declarations{};
  document::RunSettings settings;
  bool comparesLayouts = false;
  std::shared_ptr<query::Surroundings> surroundings;  ///< reads files, on another thread; never null
};

/// Makes forecasts. It is used on the thread that owns the session.
class Forecaster {
 public:
  /// `session` is the session that a run would continue; nullptr if a run would start a new one. `loaded`
  /// saves reading the model's description again; it may be null. What is wrong with the query or the model
  /// is not thrown: the forecast holds it. Returns nothing if it was stopped.
  std::optional<Forecast> forecast(const ForecastRequest& request, const run::Session* session,
                                   const workbench::ModelBundle* loaded, const std::stop_token& stop);

 private:
  /// As describe(). If the model cannot be opened, the forecast also says why.
  const workbench::ModelBundle& openModel(const document::RunSettings& settings,
                                          const workbench::ModelBundle* loaded, Forecast& forecast);
  const workbench::ModelBundle& describe(const document::RunSettings& settings,
                                         const workbench::ModelBundle* loaded);

  std::optional<workbench::ModelBundle> m_described;  ///< of a model that is not loaded
};

}  // namespace spanscope::ui
