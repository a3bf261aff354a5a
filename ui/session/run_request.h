// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/plan/plan.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/run/run_options.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/remote_run_job.h"
#include "engine/workbench/service/request_retrieval.h"
#include "engine/workbench/service/run_job.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

/// Submits a job to the service of the embedded engine. Can be called on any thread.
using JobSubmitter = std::function<workbench::JobHandle(std::shared_ptr<workbench::Job>)>;

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

/// Returns the server of each query node that names a server, by the path of the node. The name can also mean
/// the embedded engine.
std::map<NodePath, std::string> serversOf(const document::Document& document,
                                          const document::NodePaths& paths);
/// Whether a server answers anything of the query.
bool goesToServers(const document::RunSettings& settings, const std::map<NodePath, std::string>& serverOf);
/// Returns the names of the servers to which the run may send requests, each once, ascending.
std::vector<std::string> askedServers(const document::RunSettings& settings,
                                      const std::map<NodePath, std::string>& serverOf);

/// Returns a function that answers requests of a run on servers with the embedded engine. Each request is a
/// separate run in the engine's session, with a number larger than `lastRun`. The returned function waits for
/// the answer. Do not call the returned function on the window's thread. The calling thread reports progress
/// to the watch, about every 20 ms.
remote::LocalAnswer answerHere(JobSubmitter submit, const document::RunSettings& settings, RunId lastRun);

}  // namespace spanscope::ui
