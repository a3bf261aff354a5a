// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the kind, the models and the endpoints of a server. Also lists the kinds of servers, and their
// differences for a client. Open this file to add a kind of server.
#pragma once

#include "engine/remote/http/http_client.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote {

enum class ServerKind : std::uint8_t {
  OpenAi,  ///< OpenAI's API, or an unknown server
  Vllm,
  Sglang,
  LlamaCpp,
  Ollama,
  LmStudio,
  Spanscope,  ///< spanq serve
  Spnl,       ///< accepts span queries and reports nothing else
};

/// States when a server reports the number of cached tokens of a prompt.
enum class CacheReporting : std::uint8_t { Always, IfAsked, Never };

struct ServerKindInfo {
  ServerKind kind = ServerKind::OpenAi;
  const char* name = "";   ///< name in options: "llama.cpp"
  const char* title = "";  ///< name in lists: "llama.cpp"
  CacheReporting cached = CacheReporting::Never;
  /// For IfAsked: advice to the user for a server that does not report cache hits.
  const char* advice = "";
  /// Whether a missing number can also mean that there is no cache hit. vLLM then leaves out the object.
  bool zeroIsSilent = false;
  bool sendsProgress = false;  ///< sends the progress of the prompt if the request has `return_progress`
};

inline constexpr std::array kServerKinds{
    ServerKindInfo{ServerKind::OpenAi, "openai", "OpenAI's API", CacheReporting::Always},
    ServerKindInfo{ServerKind::Vllm, "vllm", "vLLM", CacheReporting::IfAsked,
                   "start the server with --enable-prompt-tokens-details", true},
    ServerKindInfo{ServerKind::Sglang, "sglang", "SGLang", CacheReporting::IfAsked,
                   "start the server with --enable-cache-report"},
    ServerKindInfo{.kind = ServerKind::LlamaCpp,
                   .name = "llama.cpp",
                   .title = "llama.cpp",
                   .cached = CacheReporting::Always,
                   .sendsProgress = true},
    ServerKindInfo{ServerKind::Ollama, "ollama", "Ollama", CacheReporting::IfAsked,
                   "use a version from September 2026 or later"},
    ServerKindInfo{ServerKind::LmStudio, "lmstudio", "LM Studio", CacheReporting::Never},
    ServerKindInfo{ServerKind::Spanscope, "spanscope", "Spanscope", CacheReporting::Always},
    ServerKindInfo{ServerKind::Spnl, "spnl", "a server with span support", CacheReporting::Never}};

constexpr const ServerKindInfo& infoOf(ServerKind kind) {
  return kServerKinds[static_cast<std::size_t>(kind)];
}

/// Returns null for an unknown name.
constexpr const ServerKindInfo* findServerKind(std::string_view name) {
  for (const ServerKindInfo& info : kServerKinds) {
    if (name == info.name) return &info;
  }
  return nullptr;
}

struct ServedModel {
  std::string name;
  std::optional<std::int64_t> context;  ///< tokens; nothing: not reported
};

/// A server's report about its cache. Nothing: not reported.
struct CacheFacts {
  std::optional<std::int64_t> slotTokens;   ///< context of a slot (llama.cpp)
  std::optional<std::int64_t> blockSize;    ///< tokens of a block (vLLM) or page (SGLang)
  std::optional<std::int64_t> cacheTokens;  ///< max tokens in the cache (vLLM, SGLang)
  std::optional<bool> findsPrefixes;        ///< whether the server reuses prefixes (vLLM, SGLang)
  /// Bytes of the keys and values of a token. No server reports them; the caller may know the model.
  std::optional<std::int64_t> tokenBytes{};
  bool operator==(const CacheFacts&) const = default;
};

struct ServerFacts {
  ServerKind kind = ServerKind::OpenAi;
  std::string version;                ///< empty: not reported
  std::vector<ServedModel> models;    ///< in the server's order
  std::optional<std::int64_t> slots;  ///< number of slots (llama.cpp)
  CacheFacts cache{};
  bool listsModels = true;                                    ///< false: no list, so `models` is empty
  std::vector<std::string> protocols{"chat", "completions"};  ///< each is a Protocol::name
  /// The text between the address and the paths: "/v1". Empty if the address contains another version
  /// ("/v1beta/openai", "/api/v3").
  std::string api = "/v1";

  bool takes(std::string_view protocol) const {
    return std::find(protocols.begin(), protocols.end(), protocol) != protocols.end();
  }
};

/// Returns the root address of a server's paths, without slashes at the end. "/v1" and the path of an
/// endpoint, which users often add, are removed.
std::string rootOf(const std::string& url);

/// Returns the address of an endpoint. `path` is the usual path, "/v1/chat/completions".
std::string addressOf(const std::string& url, const ServerFacts& facts, std::string_view path);

/// Returns the value of a label in a line of Prometheus metrics ("block_size" of vllm:cache_config_info).
/// Empty: there is no such line or label.
std::string metricLabel(const std::string& metrics, const std::string& metric, const std::string& label);

/// Finds the facts of a server. Throws Failure like HttpClient::send(), and if the server refuses to list its
/// models. A server without a list of models must have one of the endpoints. The requests are:
/// - GET /v1/models, and /models unless the address has "/v1";
/// - the paths of the probable kind of server;
/// - the endpoints of rare protocols, with an empty body, so that no server computes an answer. For an
///   unknown kind, also the other endpoints.
ServerFacts askServer(HttpClient& client, const std::string& url, const HttpAccess& access,
                      const std::stop_token& stop = {});

/// Returns the number of tokens of a text for a server's model, including tokens that the server adds. Sends
/// POST /tokenize, which vLLM and SGLang support. Nothing: not reported.
std::optional<std::int64_t> countTokens(HttpClient& client, const std::string& url, const HttpAccess& access,
                                        const std::string& model, const std::string& text,
                                        const std::stop_token& stop = {});

}  // namespace spanscope::remote
