// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/finder/hub_models.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/remote/secrets/secret_store.h"
#include "engine/trace/line_pieces.h"

#include <algorithm>
#include <cctype>
#include <variant>

namespace spanscope::workbench {
namespace {

std::string withoutBlanks(std::string text) {
  const auto isBlank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && isBlank(text.back())) text.pop_back();
  text.erase(text.begin(), std::ranges::find_if_not(text, isBlank));
  return text;
}

bool isOn(const VariableReader& environment, const char* name) {
  std::string value = environment(name).value_or("");
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::toupper(c); });
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

/// `home`: the folder that has hub/ and token, unless variables name other places.
std::string tokenOf(const VariableReader& environment, const std::filesystem::path& home) {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (std::string token = withoutBlanks(environment(name).value_or("")); !token.empty()) return token;
  }
  const std::optional<std::string> named = environment("HF_TOKEN_PATH");
  const std::filesystem::path file = named ? std::filesystem::path(*named) : home / "token";
  try {
    return withoutBlanks(checkpoint::readFileBytes(file, remote::kMostKeyBytes, "a token"));
  } catch (const Failure&) {
    return {};  // most users have no token
  }
}

}  // namespace

remote::HubPlace hubPlace(const VariableReader& environment) {
  for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    if (isOn(environment, name)) {
      throw Failure({"hub",
                     {},
                     "the variable " + std::string(name),
                     /*id:hub-offline*/ "Unset this variable to use the network."});
    }
  }
  const ModelFolders folders = foldersOfTools(environment);
  if (folders.huggingFace.empty())
    throw Failure({"cache of Hugging Face", {}, "no folder", "one of HF_HOME, HF_HUB_CACHE and HOME"});
  remote::HubPlace place;
  place.cache = folders.huggingFace.front();
  if (const auto endpoint = environment("HF_ENDPOINT")) place.endpoint = *endpoint;
  while (place.endpoint.ends_with('/')) place.endpoint.pop_back();
  const auto address = remote::readServerAddress(place.endpoint);
  if (const auto* problem = std::get_if<Error>(&address))
    throw Failure(
        {"HF_ENDPOINT", {}, problem->found, "the address of a hub, such as https://huggingface.co"});
  // The variable HF_HUB_CACHE does not move the token.
  ModelFolders usual = foldersOfTools([&environment](const char* name) {
    return std::string_view(name) == "HF_HUB_CACHE" ? std::nullopt : environment(name);
  });
  const std::filesystem::path ownFolder =
      usual.huggingFace.empty() ? std::filesystem::path() : usual.huggingFace.front().parent_path();
  place.token = tokenOf(environment, ownFolder);
  return place;
}

std::string hubSecretName(const remote::HubPlace& place) {
  const auto address = remote::readServerAddress(place.endpoint);
  const auto* server = std::get_if<remote::ServerAddress>(&address);
  return server == nullptr ? place.endpoint : server->host;
}

namespace {

/// Calls `act`. After a refusal without a token, takes the token of the secret store and calls `act` again.
template <typename Act>
auto withToken(remote::HubPlace& place, const std::stop_token& stop, const Act& act) {
  try {
    return act();
  } catch (const remote::HubAccessFailure&) {
    if (!place.token.empty()) throw;
    std::optional<std::string> token;
    try {
      token = remote::findSecret(hubSecretName(place), stop);
    } catch (const Failure&) {
      // Without a secret store, the refusal of the hub is the better message.
    }
    if (!token || token->empty()) throw;
    place.token = *token;
  }
  return act();
}

}  // namespace

remote::HubListing listHubModel(remote::HttpClient& client, remote::HubPlace& place,
                                const std::string& repository, const std::string& revision,
                                const std::stop_token& stop) {
  return withToken(place, stop,
                   [&] { return remote::listHubFiles(client, place, repository, revision, stop); });
}

std::string hubSizeText(std::uint64_t bytes) {
  constexpr double kMebi = 1 << 20;
  constexpr double kGibi = 1 << 30;
  const auto value = static_cast<double>(bytes);
  if (bytes == 0) return "–";
  if (value < kMebi) return counted(bytes, "byte");
  return value >= kGibi ? trace::fixedPoint(value / kGibi, 2) + " GiB"
                        : trace::fixedPoint(value / kMebi, 1) + " MiB";
}

std::optional<std::filesystem::path> getHubModel(
    remote::HttpClient& client, remote::HubPlace& place, const remote::HubListing& listing,
    const remote::HubModel& model, const std::function<void(const remote::HubProgress&)>& report,
    const std::stop_token& stop) {
  const remote::HubDownload download{.files = model.files, .report = report, .freeBytes = {}};
  const std::optional<std::filesystem::path> folder =
      withToken(place, stop, [&] { return remote::downloadFromHub(client, place, listing, download, stop); });
  if (!folder || model.name.empty()) return folder;
  return *folder / std::filesystem::path(model.name);
}

}  // namespace spanscope::workbench
