// SPDX-License-Identifier: GPL-3.0-or-later
// What a server can do, found by asking it.
#pragma once

#include "engine/remote/chat/server_kind.h"
#include "engine/remote/http/http_client.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote {

struct ServedModel {
  std::string name;
  std::optional<std::int64_t> context;  ///< tokens; none: not said
};

/// What a server says of its cache; none: it does not say so.
struct CacheFacts {
  std::optional<std::int64_t> slotTokens;   ///< context of a slot (llama.cpp)
  std::optional<std::int64_t> blockSize;    ///< tokens of a block (vLLM) or page (SGLang)
  std::optional<std::int64_t> cacheTokens;  ///< room for so many (vLLM, SGLang)
  std::optional<bool> findsPrefixes;        ///< whether it looks for beginnings at all (vLLM, SGLang)
  bool operator==(const CacheFacts&) const = default;
};

struct ServerFacts {
  ServerKind kind = ServerKind::OpenAi;
  std::string version;                ///< empty: not said
  std::vector<ServedModel> models;    ///< in the server's order
  std::optional<std::int64_t> slots;  ///< llama.cpp's
  CacheFacts cache{};
  bool hasTemplate = false;                                   ///< whether it says its chat template
  bool listsModels = true;                                    ///< none of `models` means nothing otherwise
  std::vector<std::string> protocols{"chat", "completions"};  ///< that it takes, by Protocol::name
  /// Between the address and the paths: "/v1"; empty for servers whose address holds another version
  /// ("/v1beta/openai", "/api/v3").
  std::string api = "/v1";

  bool takes(std::string_view protocol) const {
    return std::find(protocols.begin(), protocols.end(), protocol) != protocols.end();
  }
};

/// The address under which a server's paths lie: without slashes at its end and without "/v1" and the path of
/// an endpoint, which people give with it.
std::string rootOf(const std::string& url);

/// The address of an endpoint. `path`: as most servers have it, "/v1/chat/completions".
std::string addressOf(const std::string& url, const ServerFacts& facts, std::string_view path);

/// Value of a label in a line of Prometheus figures ("block_size" of vllm:cache_config_info); empty: there is
/// no such line or label.
std::string metricLabel(const std::string& metrics, const std::string& metric, const std::string& label);

/// Asks GET /v1/models (and /models, unless the address has "/v1"), and by what is said there the paths of
/// the kind of server that it seems to be; then the endpoints of protocols that few servers have, and of a
/// server of no known kind the others, by sending them nothing, which none of them computes. Throws Failure
/// as HttpClient::send() does, and where the server refuses to list its models. A server without a list of
/// models must have one of the endpoints.
ServerFacts askServer(HttpClient& client, const std::string& url, const HttpAccess& access,
                      const std::stop_token& stop = {});

/// How many tokens a text is for a model of a server, with those that the server adds: asks POST /tokenize,
/// which vLLM and SGLang have. Nothing: the server does not say.
std::optional<std::int64_t> countTokens(HttpClient& client, const std::string& url, const HttpAccess& access,
                                        const std::string& model, const std::string& text,
                                        const std::stop_token& stop = {});

}  // namespace spanscope::remote
