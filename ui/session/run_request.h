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
  /// If set, the engine's thread makes plan, queryJson and explain from this request.
  std::optional<workbench::RetrievalRequest> retrieval;
  plan::Plan plan;
  std::string queryJson;  ///< canonical, for the trace
  std::string explain;    ///< for the trace
  /// The largest numbers in use. The run and its requests get larger numbers.
  RunId lastRun = 0;
  RequestId lastRequest = 0;
};

/// Returns the options of a run that the window shows, including which attention its settings record.
/// `layers` is the number of layers of the model.
run::RunOptions shownRunOptions(const document::RunSettings& settings, std::int32_t layers);

std::shared_ptr<workbench::RunJob> makeRunJob(RunRequest request);

}  // namespace spanscope::ui
