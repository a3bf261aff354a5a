// SPDX-License-Identifier: GPL-3.0-or-later
// What scenarios of servers have in common whose requests are admitted, decoded and freed by name.
#pragma once

#include "engine/twin/scenario.h"
#include "engine/twin/telling/scenario_story.h"

#include <string>
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

}  // namespace spanscope::twin
