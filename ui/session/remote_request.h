// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/service/remote_run_job.h"
#include "ui/session/job_submitter.h"

#include <map>
#include <string>
#include <vector>

namespace spanscope::ui {

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
