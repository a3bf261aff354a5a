// SPDX-License-Identifier: GPL-3.0-or-later
// Shared code of scenarios whose requests are admitted, decoded and freed by name. Open this file to replay
// another server's scenarios.
#pragma once

#include "engine/twin/scenario.h"
#include "engine/twin/sglang/token_cache.h"
#include "engine/twin/telling/cache_teller.h"
#include "engine/twin/twin.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::twin {

/// Returns the name of an op's request. Throws Failure if the cache is not running it. For a new request,
/// throws Failure if the cache is running it already.
template <class Cache>
const std::string& runningRequest(const ScenarioPlace& op, const Cache& cache) {
  const std::string& request = op.field("request").requireText();
  if (cache.runs(request)) return request;
  throw op.field("request").fail('"' + request + "\", which does not run", "a request that runs");
}
template <class Cache>
const std::string& newRequest(const ScenarioPlace& op, const Cache& cache) {
  const std::string& request = op.field("request").requireText();
  if (!cache.runs(request)) return request;
  throw op.field("request").fail('"' + request + "\", which runs", "a request that does not run");
}

/// Returns the tokens of an op's prompt; at least one.
inline std::vector<TokenId> promptOf(const ScenarioPlace& op) {
  const ScenarioPlace prompt = op.field("prompt");
  std::vector<TokenId> tokens = prompt.requireTokens();
  if (tokens.empty()) throw prompt.fail("no token", "at least one");
  return tokens;
}

/// Returns the scenario with each op as a `Replay` of it writes the op. Emits events if there is a story.
template <class Replay>
Json replayOps(const ScenarioPlace& scenario, ScenarioStory* story) {
  Replay replay(scenario, story);
  Json ops = Json::array();
  for (const ScenarioPlace& op : scenario.field("ops").elements()) ops.push_back(replay.replay(op));
  Json written = scenario.value();
  written["ops"] = std::move(ops);
  return written;
}

/// All prompts and answers that a server has computed, including those it no longer keeps. A cache simulator
/// uses them to explain misses. Memory grows with every request.
class SeenTokens {
 public:
  void add(std::string_view salt, std::span<const TokenId> tokens);

  /// Returns the fates of a prompt. Its first `cached` tokens are hits, and `kept` tokens are kept. Both are
  /// whole blocks of `block` tokens.
  std::vector<FateRun> fates(std::string_view salt, std::span<const TokenId> prompt, std::size_t cached,
                             std::size_t kept, std::size_t block) const;

 private:
  sglang::RadixTree m_tree{1};
};

}  // namespace spanscope::twin
