// SPDX-License-Identifier: GPL-3.0-or-later
// What scenarios of servers have in common whose requests are admitted, decoded and freed by name.
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

/// The name of an op's request. Throws Failure unless the cache has it running, or, for a new one, has it
/// not.
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

/// The tokens of an op's prompt; at least one.
inline std::vector<TokenId> promptOf(const ScenarioPlace& op) {
  const ScenarioPlace prompt = op.field("prompt");
  std::vector<TokenId> tokens = prompt.requireTokens();
  if (tokens.empty()) throw prompt.fail("no token", "at least one");
  return tokens;
}

/// The scenario with each of its ops as a `Replay` of it writes them, and tells them if there is a story.
template <class Replay>
Json replayOps(const ScenarioPlace& scenario, ScenarioStory* story) {
  Replay replay(scenario, story);
  Json ops = Json::array();
  for (const ScenarioPlace& op : scenario.field("ops").elements()) ops.push_back(replay.replay(op));
  Json written = scenario.value();
  written["ops"] = std::move(ops);
  return written;
}

/// All prompts and replies that a server has computed, whether it still keeps them or not: so that a twin can
/// say why what it does not find is not found. Memory grows with every request.
class SeenTokens {
 public:
  void add(std::string_view salt, std::span<const TokenId> tokens);

  /// The fates of a prompt of which the first `cached` tokens are found and `kept` ones are there, both whole
  /// blocks of `block` tokens.
  std::vector<FateRun> fates(std::string_view salt, std::span<const TokenId> prompt, std::size_t cached,
                             std::size_t kept, std::size_t block) const;

 private:
  sglang::RadixTree m_tree{1};
};

}  // namespace spanscope::twin
