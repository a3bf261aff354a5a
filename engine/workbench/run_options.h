// SPDX-License-Identifier: GPL-3.0-or-later
// Translates a document's settings for the engine. Runs and predictions use the same options. Open this file
// to translate a new setting.
#pragma once

#include "engine/query/query.h"
#include "engine/remote/embeddings_client.h"
#include "engine/run/run_options.h"
#include "engine/text/chat_template.h"
#include "engine/workbench/document/document.h"

#include <filesystem>
#include <optional>
#include <string>

namespace spanscope::workbench {

/// Returns the directory of the checkpoint, or of the bundled checkpoint. Throws Failure if the bundled
/// checkpoint cannot be found.
std::filesystem::path modelDirectoryOf(const document::RunSettings& settings);

/// Returns the chat template that the settings choose: one of the table, or a program of Jinja. Null: the
/// checkpoint's own template, as text::findChatTemplate() finds it. Throws Failure if Jinja cannot render the
/// template, and like modelDirectoryOf().
const text::ChatTemplate* chosenTemplateOf(const document::RunSettings& settings);
/// Returns the same, or the checkpoint's own template. Throws like text::findChatTemplate(), too.
const text::ChatTemplate& chatTemplateOf(const document::RunSettings& settings);

/// Returns the name of the policy for the settings' model, unless the user chose another policy. If the
/// checkpoint or the adapter was trained for block attention, returns the default policy. Otherwise returns
/// the first policy that is as accurate as the checkpoint itself. If the model cannot be opened, returns the
/// default policy.
std::string usualPolicyOf(const document::RunSettings& settings);

/// Returns the folder of this user's span store, unless another folder was chosen. The folder is
/// spanscope/spans in the folder for caches, XDG_CACHE_HOME or ~/.cache. Throws Failure if there is no such
/// folder.
std::filesystem::path standardStoreFolder();

/// Throws Failure like standardStoreFolder() if blocks must be kept on the disk.
run::SessionConfig sessionConfigOf(const document::RunSettings& settings);

/// Runs with equal results can share the loaded model. Throws like modelDirectoryOf().
document::RunSettings modelIdentityOf(const document::RunSettings& settings);
/// Runs with equal results can share a session and its cache. Throws like modelDirectoryOf().
document::RunSettings sessionIdentityOf(const document::RunSettings& settings);

/// Returns the options without the settings of observation, and without data for the trace alone.
run::RunOptions runOptionsOf(const document::RunSettings& settings);

/// Returns the server that embeds in place of the checkpoint, if there is one, without a key.
std::optional<remote::EmbeddingsServer> embeddingsServerOf(const document::RunSettings& settings);
/// Whether a run of the query sends texts to this server.
bool asksServer(const query::Node& query, const document::RunSettings& settings);

}  // namespace spanscope::workbench
