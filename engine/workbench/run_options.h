// SPDX-License-Identifier: GPL-3.0-or-later
// Translates a document's settings for the engine. Runs and predictions use the same options.
#pragma once

#include "engine/query/query.h"
#include "engine/remote/embeddings_client.h"
#include "engine/run/run_options.h"
#include "engine/workbench/document/document.h"

#include <filesystem>
#include <optional>
#include <string>

namespace spanscope::workbench {

/// The directory of the checkpoint, or of the bundled one. Throws Failure if the bundled one cannot be found.
std::filesystem::path modelDirectoryOf(const document::RunSettings& settings);

/// Name of the policy with which the settings' model runs, unless another one is chosen. It is the default
/// policy if the checkpoint or the adapter was trained for block attention. Otherwise it is the first policy
/// that is as accurate as the checkpoint itself. If the model cannot be opened, it is the default policy.
std::string usualPolicyOf(const document::RunSettings& settings);

/// The folder of this user's span store, unless another folder was chosen: spanscope/spans in the folder for
/// caches, XDG_CACHE_HOME or ~/.cache. Throws Failure if there is no such folder.
std::filesystem::path standardStoreFolder();

/// Throws Failure as standardStoreFolder() does, if blocks shall be kept on the disk.
run::SessionConfig sessionConfigOf(const document::RunSettings& settings);

/// Runs with equal results can share the loaded model. Throws as modelDirectoryOf().
document::RunSettings modelIdentityOf(const document::RunSettings& settings);
/// Runs with equal results can share a session and its cache. Throws as modelDirectoryOf().
document::RunSettings sessionIdentityOf(const document::RunSettings& settings);

/// Without the settings of observation, and without anything that only the trace needs.
run::RunOptions runOptionsOf(const document::RunSettings& settings);

/// The server that embeds instead of the checkpoint, if there is one; without a key.
std::optional<remote::EmbeddingsServer> embeddingsServerOf(const document::RunSettings& settings);
/// Whether a run of the query sends texts to this server.
bool asksServer(const query::Node& query, const document::RunSettings& settings);

}  // namespace spanscope::workbench
