// SPDX-License-Identifier: GPL-3.0-or-later
// What a document's settings mean to the engine: the same for what is run and for what is predicted.
#pragma once

#include "engine/query/query.h"
#include "engine/remote/embeddings_client.h"
#include "engine/run/run_options.h"
#include "engine/run/session_config.h"
#include "engine/workbench/document/document.h"

#include <filesystem>
#include <optional>

namespace spanscope::workbench {

/// Of the checkpoint, or the bundled one. Throws Failure where that cannot be found.
std::filesystem::path modelDirectoryOf(const document::RunSettings& settings);

/// Where this user's span store is unless another folder was chosen: spanscope/spans in the folder for
/// caches, XDG_CACHE_HOME or ~/.cache. Throws Failure where there is none.
std::filesystem::path standardStoreFolder();

/// Throws Failure as standardStoreFolder() where blocks are to be kept on the disk.
run::SessionConfig sessionConfigOf(const document::RunSettings& settings);

/// Two runs that have the same can share the model that is loaded. Throws as modelDirectoryOf().
document::RunSettings modelIdentityOf(const document::RunSettings& settings);
/// Two runs that have the same can share a session, with its cache. Throws as modelDirectoryOf().
document::RunSettings sessionIdentityOf(const document::RunSettings& settings);

/// Without what is observed, and without what only the trace is told.
run::RunOptions runOptionsOf(const document::RunSettings& settings);

/// Who embeds instead of the checkpoint, if anyone; without a key.
std::optional<remote::EmbeddingsServer> embeddingsServerOf(const document::RunSettings& settings);
/// Whether a run of the query sends texts to that server.
bool asksServer(const query::Node& query, const document::RunSettings& settings);

}  // namespace spanscope::workbench
