// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/plan/plan.h"
#include "engine/run/run_options.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/service/request_retrieval.h"
#include "engine/workbench/service/run_job.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace spanscope::ui {

/// Everything that a run of a document needs, as values.
struct RunRequest {
  document::RunSettings settings;
  /// Where there is one, plan, queryJson and explain are made from it on the engine's thread.
  std::optional<workbench::RetrievalRequest> retrieval;
  plan::Plan plan;
  std::string queryJson;  ///< canonical, for the trace
  std::string explain;    ///< for the trace
  /// The numbers of the run and of its requests will be larger than these.
  RunId lastRun = 0;
  RequestId lastRequest = 0;
};

/// Of a run that the window shows, with what its settings have recorded of attention; `layers`: of the model.
run::RunOptions shownRunOptions(const document::RunSettings& settings, std::int32_t layers);

std::shared_ptr<workbench::RunJob> makeRunJob(RunRequest request);

}  // namespace spanscope::ui
