// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/server_facts.h"

#include "engine/base/error.h"
#include "engine/base/json_text.h"
#include "engine/remote/chat/answer_json.h"
#include "engine/remote/chat/chat_answer.h"
#include "engine/remote/protocol.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <system_error>
#include <utility>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostModels = 10'000;
/// Max wait for paths that a server answers immediately or never.
constexpr std::chrono::seconds kShortWait{10};
/// Max wait for endpoints that get an empty body.
constexpr std::chrono::seconds kEndpointWait{3};

/// The beginning of the paths of most servers.
constexpr std::string_view kVersion = "/v1";

/// Returns nothing for 0. A context or a number of slots of 0 means that the server has no such value.
std::optional<std::int64_t> sizeIn(const Json& object, const char* name) {
  const std::optional<std::int64_t> count = countOf(object, name);
  return count.value_or(0) > 0 ? count : std::nullopt;
}

/// An address without slashes at the end and without the path of an endpoint.
std::string withoutEndpoint(const std::string& url) {
  std::string root = url;
  const auto trim = [&root] {
    while (root.ends_with('/')) root.pop_back();
  };
  trim();
  std::vector<std::string_view> paths{"/v1/models"};
  for (const Protocol* protocol : protocols()) paths.emplace_back(protocol->path);
  // The longest path comes first, because one path is the end of another.
  std::ranges::sort(paths, [](auto a, auto b) { return a.size() > b.size(); });
  for (std::string_view path : paths) {
    path.remove_prefix(kVersion.size());
    if (!root.ends_with(path)) continue;
    root.erase(root.size() - path.size());
    break;
  }
  trim();
  return root;
}

class Prober {
 public:
  Prober(HttpClient& client, const std::string& url, HttpAccess access, const std::stop_token& stop)
      : m_client(client),
        m_root(rootOf(url)),
        m_isVersioned(withoutEndpoint(url).ends_with("/v1")),
        m_access(std::move(access)),
        m_stop(stop) {
    m_access.limits.firstByte = std::min<std::chrono::milliseconds>(m_access.limits.firstByte, kShortWait);
    m_access.limits.silence = std::min<std::chrono::milliseconds>(m_access.limits.silence, kShortWait);
    m_access.limits.whole = kShortWait;
  }

  ServerFacts ask() {
    HttpReply list = get("/v1/models");
    // Most servers take a bearer token in every protocol.
    if (list.status == 401 && m_access.keyLines.front() != kBearerLine) {
      m_access.keyLines = {kBearerLine};
      list = get("/v1/models");
    }
    if (list.isStopped) return {};
    bool isRead = readModels(list);
    if (!isRead && !m_isVersioned && isNone(list)) {
      // Some addresses are complete without "/v1".
      m_facts.api.clear();
      const HttpReply other = replyAt("/models");
      isRead = readModels(other);
      if (!isRead) m_facts.api = "/v1";
    }
    if (isRead) askKind();
    m_facts.listsModels = isRead && !m_facts.models.empty();
    askEndpoints(isRead);
    const auto takesSomething = [this] { return !m_facts.protocols.empty(); };
    if (!isRead && !m_isVersioned && isNone(list) && !takesSomething()) {
      m_facts.api.clear();
      askEndpoints(isRead);
    }
    if (isRead || m_stop.stop_requested()) return std::move(m_facts);
    if (!isNone(list) || !takesSomething()) refuseList(list);
    if (m_facts.takes("spnl")) m_facts.kind = ServerKind::Spnl;
    return std::move(m_facts);
  }

 private:
  /// The reaction of an endpoint to a request without a body.
  enum class Sounds { There, Missing, Fell, Unclear };

  /// Whether the path has no list of models. Other paths may have a list.
  static bool isNone(const HttpReply& list) {
    return list.status == 404 || list.status == 405 || list.status == 200;
  }

  [[noreturn]] void refuseList(const HttpReply& list) const {
    const std::string said = errorMessage(list.body);
    if (list.status == 200) refuse(said, /*id:list-models*/ "a list of models");
    std::string advice;
    if (list.status == 404 || list.status == 405)
      advice =
          "The server has no list of models. Use the address of an OpenAI-compatible server, such as "
          "http://localhost:8000.";
    if (list.status == 401 || list.status == 403) advice = "Give a key that the server accepts.";
    if (!list.redirect.empty())
      advice = "Use the server's new address: the server redirects to " + shownReply(list.redirect) + ".";
    refuse(statusSentence(list.status, said), std::move(advice));
  }

  /// Reads a list of models. Servers have three forms: {"data": […]}, {"models": […]} or a list. The elements
  /// are objects or names. Returns whether the answer is such a list.
  bool readModels(const HttpReply& reply) {
    if (reply.status != 200) return false;
    const Json json = Json::parse(reply.body, nullptr, false);
    if (json.is_discarded()) return false;
    const Json* list = json.is_array() ? &json : nullptr;
    for (const char* const name : {"models", "data"}) {
      if (!json.is_object()) break;
      const auto found = json.find(name);
      // Ollama writes null if there is no model.
      if (found != json.end() && (found->is_array() || found->is_null())) list = &*found;
    }
    if (list == nullptr) return false;
    for (const Json& entry : *list) {
      std::string name = entry.is_string() ? entry.get<std::string>() : textOf(entry, "id");
      if (name.empty()) name = textOf(entry, "name");
      if (name.empty() || m_facts.models.size() >= kMostModels) continue;
      std::optional<std::int64_t> context;
      for (const char* const field :
           {"max_model_len", "context_length", "context_window", "max_context_length"}) {
        if (!context) context = sizeIn(entry, field);
      }
      m_facts.models.push_back({.name = std::move(name), .context = context});
    }
    m_facts.kind = kindBy(list->empty() ? std::string() : textOf(list->front(), "owned_by"));
    return true;
  }

  void askEndpoints(bool hasList) {
    m_access.limits.firstByte = std::min<std::chrono::milliseconds>(m_access.limits.firstByte, kEndpointWait);
    m_access.limits.silence = std::min<std::chrono::milliseconds>(m_access.limits.silence, kEndpointWait);
    m_access.limits.whole = kEndpointWait;
    m_facts.protocols.clear();
    for (const Protocol* protocol : protocols()) {
      if (protocol->isCommon ? isThere(*protocol, hasList) : isClearlyThere(*protocol))
        m_facts.protocols.emplace_back(protocol->name);
    }
  }

  bool isThere(const Protocol& protocol, bool hasList) {
    // Servers of known kinds have these endpoints.
    if (hasList && m_facts.kind != ServerKind::OpenAi) return true;
    const Sounds sounds = soundOf(protocol.path, protocol.contentType);
    return hasList ? sounds != Sounds::Missing : sounds == Sounds::There;
  }

  /// Few servers have the endpoint, so only a clear answer counts.
  bool isClearlyThere(const Protocol& protocol) {
    const Sounds sounds = soundOf(protocol.path, protocol.contentType);
    if (sounds != Sounds::There && sounds != Sounds::Fell) return false;
    // A gateway may check bodies before paths. Then an unknown path has the same reaction.
    const std::string path = protocol.path;
    const std::string other = path.substr(0, path.rfind('/')) + "/nothing";
    const Sounds there = soundOf(other.c_str(), protocol.contentType);
    return sounds == Sounds::There ? there != Sounds::There : there == Sounds::Missing;
  }

  /// Sends an empty body. A server that knows the path refuses the body and computes nothing.
  Sounds soundOf(const char* path, const char* contentType) {
    if (m_stop.stop_requested() || m_isSilent) return Sounds::Unclear;
    try {
      const HttpReply reply =
          m_client.send({.url = addressOf(m_root, m_facts, path), .body = "", .contentType = contentType},
                        m_access, m_stop);
      switch (reply.status) {
        case 400:
        case 422:
          return Sounds::There;
        case 404:
        case 405:
        case 501:
          return Sounds::Missing;
        case 500:
          // A request with another method shows whether the handler exists and failed on the empty body. The
          // span patch of vLLM then names the accepted method.
          return m_client.send({.url = addressOf(m_root, m_facts, path)}, m_access, m_stop).status == 405
                     ? Sounds::There
                     : Sounds::Fell;
        default:
          return Sounds::Unclear;
      }
    } catch (const Failure&) {
      // A server that did not answer this request would not answer another request.
      m_isSilent = true;
      return Sounds::Unclear;
    }
  }

  HttpReply get(const std::string& path) { return m_client.send({.url = m_root + path}, m_access, m_stop); }
  /// Works like get(), but returns an empty answer if the server sends no answer.
  HttpReply replyAt(const std::string& path) {
    try {
      return get(path);
    } catch (const Failure&) {
      return {};
    }
  }
  /// The object at a path; nothing if the server has no object there.
  std::optional<Json> object(const std::string& path) {
    if (m_stop.stop_requested()) return std::nullopt;
    try {
      const HttpReply reply = get(path);
      if (reply.status != 200) return std::nullopt;
      Json json = Json::parse(reply.body, nullptr, false);
      if (json.is_discarded() || !json.is_object()) return std::nullopt;
      return json;
    } catch (const Failure&) {
      return std::nullopt;
    }
  }
  [[noreturn]] void refuse(std::string found, std::string expected) const {
    throw Failure({m_root + "/v1/models", "answer", withoutKey(found, m_access.key), std::move(expected)});
  }

  /// llama.cpp reports "b6527-0c1e5709". A build without a number reports only the commit, which alone would
  /// look like a damaged version.
  static std::string versionOf(std::string build) {
    const bool isCommit =
        build.size() >= 7 && build.find_first_not_of("0123456789abcdef") == std::string::npos;
    return isCommit ? "commit " + build : std::move(build);
  }

  static ServerKind kindBy(const std::string& owner) {
    if (owner == "vllm") return ServerKind::Vllm;
    if (owner == "sglang") return ServerKind::Sglang;
    if (owner == "llamacpp") return ServerKind::LlamaCpp;
    if (owner == "library") return ServerKind::Ollama;
    if (owner == "organization_owner") return ServerKind::LmStudio;
    if (owner == "spanscope") return ServerKind::Spanscope;
    return ServerKind::OpenAi;
  }

  void askKind() {
    switch (m_facts.kind) {
      case ServerKind::LlamaCpp:
        if (const auto props = object("/props")) {
          m_facts.version = versionOf(textOf(*props, "build_info"));
          m_facts.slots = sizeIn(*props, "total_slots");
          const auto settings = props->find("default_generation_settings");
          const auto context = settings == props->end() ? std::nullopt : sizeIn(*settings, "n_ctx");
          m_facts.cache.slotTokens = context;
          for (ServedModel& model : m_facts.models) {
            if (!model.context) model.context = context;
          }
        }
        // Some servers report the context only for each slot.
        if (!m_facts.slots || !m_facts.cache.slotTokens) askSlots();
        break;
      case ServerKind::Sglang:
        askSglang();
        break;
      case ServerKind::Ollama:
        if (const auto info = object("/api/version")) m_facts.version = textOf(*info, "version");
        break;
      case ServerKind::OpenAi:
        // Ollama reports the maker of the model as the owner.
        if (const auto info = object("/api/version")) {
          m_facts.kind = ServerKind::Ollama;
          m_facts.version = textOf(*info, "version");
        }
        break;
      case ServerKind::Vllm:
        askVllmCache();
        [[fallthrough]];
      case ServerKind::Spanscope:
        if (const auto info = object("/version")) m_facts.version = textOf(*info, "version");
        break;
      case ServerKind::LmStudio:
      case ServerKind::Spnl:
        break;
    }
  }

  /// Returns the text at a path. Empty: there is no text, or no access.
  std::string textAt(const std::string& path) {
    if (m_stop.stop_requested()) return {};
    try {
      HttpReply reply = get(path);
      return reply.status == 200 ? std::move(reply.body) : std::string();
    } catch (const Failure&) {
      return {};
    }
  }

  void askSlots() {
    const Json slots = Json::parse(textAt("/slots"), nullptr, false);
    if (slots.is_discarded() || !slots.is_array() || slots.empty()) return;
    if (!m_facts.slots) m_facts.slots = static_cast<std::int64_t>(slots.size());
    if (!m_facts.cache.slotTokens && slots.front().is_object())
      m_facts.cache.slotTokens = sizeIn(slots.front(), "n_ctx");
  }

  void askSglang() {
    auto info = object("/server_info");
    if (!info) info = object("/get_server_info");  // before 0.5.4
    if (!info) return;
    m_facts.version = textOf(*info, "version");
    m_facts.cache.blockSize = sizeIn(*info, "page_size");
    m_facts.cache.cacheTokens = sizeIn(*info, "max_total_num_tokens");
    const auto isOff = info->find("disable_radix_cache");
    if (isOff != info->end() && isOff->is_boolean()) m_facts.cache.findsPrefixes = !isOff->get<bool>();
  }

  /// vLLM reports the settings of the cache only among the metrics. One block of vLLM contains no tokens.
  void askVllmCache() {
    constexpr const char* kMetric = "vllm:cache_config_info";
    const std::string metrics = textAt("/metrics");
    const auto count = [&metrics](const char* label) -> std::optional<std::int64_t> {
      const std::string text = metricLabel(metrics, kMetric, label);
      std::int64_t value = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
      if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value < 1) return std::nullopt;
      return value;
    };
    m_facts.cache.blockSize = count("block_size");
    const std::optional<std::int64_t> blocks = count("num_gpu_blocks");
    constexpr std::int64_t kMostBlocks = std::int64_t{1} << 40U;
    constexpr std::int64_t kMostBlockSize = std::int64_t{1} << 20U;
    if (blocks && m_facts.cache.blockSize && *blocks > 1 && *blocks < kMostBlocks &&
        *m_facts.cache.blockSize <= kMostBlockSize)
      m_facts.cache.cacheTokens = (*blocks - 1) * *m_facts.cache.blockSize;
    const std::string finds = metricLabel(metrics, kMetric, "enable_prefix_caching");
    if (finds == "True" || finds == "False") m_facts.cache.findsPrefixes = finds == "True";
  }

  HttpClient& m_client;
  std::string m_root;
  bool m_isVersioned;  ///< whether the given address ends with "/v1"
  HttpAccess m_access;
  const std::stop_token& m_stop;
  ServerFacts m_facts;
  bool m_isSilent = false;
};

}  // namespace

std::string metricLabel(const std::string& metrics, const std::string& metric, const std::string& label) {
  const std::string begin = metric + "{";
  std::size_t line = metrics.find(begin);
  while (line != std::string::npos && line > 0 && metrics[line - 1] != '\n')
    line = metrics.find(begin, line + 1);
  if (line == std::string::npos) return {};
  const std::size_t end = std::min(metrics.find('\n', line), metrics.size());
  // A label comes after the brace or a comma. A value may contain both characters, but every quote in a value
  // is escaped.
  for (std::size_t at = line + begin.size(); at < end;) {
    const std::size_t equals = metrics.find("=\"", at);
    if (equals >= end) return {};
    std::size_t close = equals + 2;
    while (close < end && metrics[close] != '"') close += metrics[close] == '\\' ? 2 : 1;
    if (close >= end) return {};
    if (metrics.compare(at, equals - at, label) == 0) return metrics.substr(equals + 2, close - equals - 2);
    at = close + 1;
    while (at < end && (metrics[at] == ',' || metrics[at] == ' ')) ++at;
  }
  return {};
}

std::string rootOf(const std::string& url) {
  std::string root = withoutEndpoint(url);
  if (root.ends_with("/v1")) root.erase(root.rfind("/v1"));
  while (root.ends_with('/')) root.pop_back();
  return root;
}

std::string addressOf(const std::string& url, const ServerFacts& facts, std::string_view path) {
  return rootOf(url) + facts.api + std::string(path.substr(kVersion.size()));
}

ServerFacts askServer(HttpClient& client, const std::string& url, const HttpAccess& access,
                      const std::stop_token& stop) {
  return Prober(client, url, access, stop).ask();
}

std::optional<std::int64_t> countTokens(HttpClient& client, const std::string& url, const HttpAccess& access,
                                        const std::string& model, const std::string& text,
                                        const std::stop_token& stop) {
  HttpAccess quick = access;
  quick.limits.firstByte = std::min<std::chrono::milliseconds>(quick.limits.firstByte, kShortWait);
  quick.limits.whole = kShortWait;
  const Json body{{"model", model}, {"prompt", text}};
  try {
    const HttpReply reply =
        client.send({.url = rootOf(url) + "/tokenize", .body = compactJson(body)}, quick, stop);
    const Json json = Json::parse(reply.status == 200 ? reply.body : std::string(), nullptr, false);
    if (json.is_discarded()) return std::nullopt;
    return sizeIn(json, "count");
  } catch (const Failure&) {
    return std::nullopt;
  }
}

}  // namespace spanscope::remote
