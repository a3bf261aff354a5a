// SPDX-License-Identifier: GPL-3.0-or-later
// Gets models from a hub for this user: the variables of Hugging Face's tools, the token, and the memory of a
// device. The window and `spanq model get` share this code. Open this file when the program uses another hub,
// folder or token than other tools.
#pragma once

#include "engine/remote/hub/hub_download.h"
#include "engine/workbench/finder/model_finder.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::workbench {

/// Returns the hub and the cache of this user, by HF_ENDPOINT and by the first folder of foldersOfTools().
/// The token comes from HF_TOKEN, HUGGING_FACE_HUB_TOKEN or the token file (HF_TOKEN_PATH, HF_HOME/token).
/// Throws Failure if HF_HUB_OFFLINE is set, if there is no folder, or if the address of the hub is wrong.
remote::HubPlace hubPlace(const VariableReader& environment);

/// The name of a hub's token in the desktop's secret store: the host, e.g. "huggingface.co".
std::string hubSecretName(const remote::HubPlace& place);

/// Lists the files of a repository. The hub may refuse a request without a token. The function then takes the
/// token of the desktop's secret store for `place`. Throws as remote::listHubFiles().
remote::HubListing listHubModel(remote::HttpClient& client, remote::HubPlace& place,
                                const std::string& repository, const std::string& revision = "main",
                                const std::stop_token& stop = {});

/// "1.23 GiB", "12.3 MiB", "812 bytes"; 0: "–".
std::string hubSizeText(std::uint64_t bytes);

/// Downloads a model. Returns the path to open: the folder, or the GGUF file. Nothing: stopped. The token is
/// as for listHubModel(), because the hub lists the files of gated models to everybody. Throws as
/// remote::downloadFromHub().
std::optional<std::filesystem::path> getHubModel(
    remote::HttpClient& client, remote::HubPlace& place, const remote::HubListing& listing,
    const remote::HubModel& model, const std::function<void(const remote::HubProgress&)>& report = {},
    const std::stop_token& stop = {});

}  // namespace spanscope::workbench
