// SPDX-License-Identifier: GPL-3.0-or-later
// The kinds of servers, and their differences for a client. A new kind is a new row. Open this file to add a
// kind.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace spanscope::remote {

enum class ServerKind : std::uint8_t {
  OpenAi,  ///< OpenAI's API, or an unknown server
  Vllm,
  Sglang,
  LlamaCpp,
  Ollama,
  LmStudio,
  Spanscope,  ///< spanq serve
  Spnl,       ///< takes span queries and reports nothing else about itself
};

/// When a server reports the number of cached tokens of a prompt.
enum class CacheReporting : std::uint8_t { Always, IfAsked, Never };

struct ServerKindInfo {
  ServerKind kind = ServerKind::OpenAi;
  const char* name = "";   ///< in options: "llama.cpp"
  const char* title = "";  ///< in lists: "llama.cpp"
  CacheReporting cached = CacheReporting::Never;
  /// Advice that makes the server report its hits; for IfAsked.
  const char* advice = "";
  /// Whether it also reports nothing without a hit (vLLM leaves the object out).
  bool zeroIsSilent = false;
  bool sendsProgress = false;  ///< about the prompt, if asked by `return_progress`
};

inline constexpr std::array kServerKinds{
    ServerKindInfo{ServerKind::OpenAi, "openai", "OpenAI's API", CacheReporting::Always},
    ServerKindInfo{ServerKind::Vllm, "vllm", "vLLM", CacheReporting::IfAsked,
                   "start it with --enable-prompt-tokens-details", true},
    ServerKindInfo{ServerKind::Sglang, "sglang", "SGLang", CacheReporting::IfAsked,
                   "start it with --enable-cache-report"},
    ServerKindInfo{.kind = ServerKind::LlamaCpp,
                   .name = "llama.cpp",
                   .title = "llama.cpp",
                   .cached = CacheReporting::Always,
                   .sendsProgress = true},
    ServerKindInfo{ServerKind::Ollama, "ollama", "Ollama", CacheReporting::IfAsked,
                   "it does so from September 2026 on"},
    ServerKindInfo{ServerKind::LmStudio, "lmstudio", "LM Studio", CacheReporting::Never},
    ServerKindInfo{ServerKind::Spanscope, "spanscope", "Spanscope", CacheReporting::Always},
    ServerKindInfo{ServerKind::Spnl, "spnl", "a span server", CacheReporting::Never}};

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

}  // namespace spanscope::remote
