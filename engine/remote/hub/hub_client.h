// SPDX-License-Identifier: GPL-3.0-or-later
// Asks a hub in the style of Hugging Face for the files of a model, and finds the models among these files.
// All answers of the hub are untrusted: the program checks names, sizes and addresses. A token goes only to
// the hub itself. Open this file when a model is not listed, or the hub refuses a request.
#pragma once

#include "engine/base/error.h"
#include "engine/remote/http/http_client.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::remote {

/// A hub, and the folder for its files.
struct HubPlace {
  std::string endpoint = "https://huggingface.co";
  std::filesystem::path cache;  ///< has models--ORG--NAME, in the layout of huggingface_hub
  std::string token{};          ///< empty: none
  HttpLimits limits{.firstByte = std::chrono::seconds(60), .silence = std::chrono::seconds(60)};
  /// The pause before another attempt, after a broken connection or a busy hub.
  std::chrono::milliseconds pause{1000};
};

/// A model as the user names it: "ORG/NAME", "ORG/NAME:FILE" or "ORG/NAME:Q4_K_M".
struct HubName {
  std::string repository;  ///< "ORG/NAME"; old repositories have no ORG
  std::string file{};      ///< a file, or the end of the name of a GGUF file; empty: the usual files
};

/// Reads a name, or the address of a model's page. The error has no file.
std::variant<HubName, Error> readHubName(std::string_view text);

struct HubFile {
  std::string name;         ///< path in the repository, with '/'
  std::uint64_t bytes = 0;  ///< 0: not reported, or an empty file
};

/// The files of a repository at a commit.
struct HubListing {
  std::string repository;
  std::string revision;  ///< as requested: a branch, a tag or a commit
  std::string commit;    ///< 40 hexadecimal digits
  std::vector<HubFile> files;

  const HubFile* find(std::string_view name) const;
};

/// The hub refuses a request: without a token, or with this token.
class HubAccessFailure final : public Failure {
 public:
  using Failure::Failure;
};

/// Lists the files of a repository, except those with unsafe names. After a stop, the commit is empty. Throws
/// Failure for a wrong name, a missing repository and an unusable answer. Throws HubAccessFailure if the user
/// needs another token.
HubListing listHubFiles(HttpClient& client, const HubPlace& place, const std::string& repository,
                        const std::string& revision = "main", const std::stop_token& stop = {});

/// A model in a repository: a folder of safetensors files, or a GGUF file with all its parts.
struct HubModel {
  std::string name;                ///< the GGUF file, its first part; empty: the folder
  std::vector<std::string> files;  ///< all files to get, small files first
  std::uint64_t bytes = 0;         ///< of all files
  std::uint64_t weightBytes = 0;   ///< of the weights; 0: not reported
};

/// Lists the models: first the folder, then the GGUF files by size. Files of other formats and helper files
/// of images are no models.
std::vector<HubModel> hubModels(const HubListing& listing);

/// Whether weights of this size leave a tenth of the memory for the cache. True if one number is 0, which
/// means unknown.
bool fitsMemory(std::uint64_t weightBytes, std::uint64_t memory);

/// Returns the index of the recommended model: the first of these that fits into the memory.
/// - the folder of safetensors files
/// - the GGUF file Q4_K_M
/// - the largest GGUF file with packed weights, then other GGUF files
/// If none fits, returns the smallest. `models` must not be empty.
std::size_t recommendedModel(const std::vector<HubModel>& models, std::uint64_t memory);

/// Returns the model that HubName::file means; empty: the recommended model. Any file of the repository can
/// be named. Throws Failure if there is none.
HubModel chosenModel(const HubListing& listing, const std::string& file, std::uint64_t memory);

/// Whether a path of a hub stays in the folder of its model. Such a path has no "..", no empty component, no
/// control character and no backslash.
bool isSafeHubPath(std::string_view path);

/// Escapes a text for the path of an address. Slashes stay if `keepsSlashes` is true.
std::string escapedPath(std::string_view text, bool keepsSlashes);

/// A request with redirects. At most kMostRedirects are followed. The token goes to the hub only, and only
/// over https or to this machine. A redirect from https to http is refused.
struct HubRequest {
  std::string url;                       ///< without a query
  std::string query{};                   ///< the text after '?'
  bool isHead = false;                   ///< ends at a redirect to another server, which has the facts
  std::vector<std::string> headLines{};  ///< more header lines
  std::vector<std::string> wanted{};     ///< as HttpRequest::wanted
  std::function<void(const HttpReply&)> begins{};
  std::size_t mostBytes = std::size_t{16} << 20U;
};
inline constexpr int kMostRedirects = 5;

/// Sends a request. Throws as HttpClient::send(), and for refused redirects. `receive` as there.
HttpReply sendToHub(HttpClient& client, const HubPlace& place, const HubRequest& request,
                    const std::stop_token& stop, const HttpReceiver& receive = {});

/// Returns the failure for an answer with an error status. `what`: the requested file or model.
[[noreturn]] void refuseHubReply(const HubPlace& place, const std::string& repository,
                                 const std::string& what, const HttpReply& reply);

}  // namespace spanscope::remote
