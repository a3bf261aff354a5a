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

/// Who answers the nodes of a query that do not leave it to the settings, by their places in it.
std::map<NodePath, std::string> serversOf(const document::Document& document,
                                          const document::NodePaths& paths);
/// Whether anything of the query is to be answered by a server.
bool goesToServers(const document::RunSettings& settings, const std::map<NodePath, std::string>& serverOf);
/// The names of the servers that may be asked, each once, ascending.
std::vector<std::string> askedServers(const document::RunSettings& settings,
                                      const std::map<NodePath, std::string>& serverOf);

/// Answers requests of a run on servers in the embedded engine: each is a run of its own in the engine's
/// session, with a number larger than `lastRun`. It waits, so it is called on a thread that is not the
/// window's, and tells its watch there what comes, a few times in each tenth of a second.
remote::LocalAnswer answerHere(JobSubmitter submit, const document::RunSettings& settings, RunId lastRun);

}  // namespace spanscope::ui
