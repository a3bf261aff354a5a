// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes scenarios. Each scenario is one JSON object with the requests to a server, in order.
// Required members are checked strictly. Other members stay as they are, so that the scenario can be written
// again. The file also has shared code for scenarios whose requests are admitted, decoded and freed by name.
// Open this file to add a member, or to replay another server's scenarios.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/simulator/servers.h"
#include "engine/simulator/sglang/token_cache.h"
#include "engine/simulator/tracing/cache_tracer.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::simulator {

using Json = nlohmann::ordered_json;

/// The place of a scenario: a line of a file, counted from 1.
struct ScenarioLine {
  std::string file;
  std::size_t line = 1;
};

/// A value of a scenario and its place. A getter throws Failure if the value is missing or has another type.
/// The failure has the file, the line and the JSON pointer of the value.
class ScenarioPlace {
 public:
  /// `value` and `line` must outlive this object and all objects made from it.
  ScenarioPlace(const Json& value, const ScenarioLine& line, std::string pointer = {})
      : m_value(&value), m_line(&line), m_pointer(std::move(pointer)) {}

  const Json& value() const { return *m_value; }
  Failure fail(std::string found, std::string expected) const;

  // These functions read members of an object. A null member counts as absent.
  ScenarioPlace field(const std::string& name) const;
  std::optional<ScenarioPlace> find(const std::string& name) const;
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const;
  std::int64_t integerOr(const std::string& name, std::int64_t least, std::int64_t most,
                         std::int64_t otherwise) const;
  bool flagOr(const std::string& name, bool otherwise) const;
  std::string textOr(const std::string& name, std::string otherwise) const;

  // These functions read the value itself.
  void requireObject() const;
  /// Returns the elements of a list.
  std::vector<ScenarioPlace> elements() const;
  std::int64_t requireInteger(std::int64_t least, std::int64_t most) const;
  double requireNumber(double least, double most) const;
  bool requireFlag() const;
  const std::string& requireText() const;
  /// Returns a list of token ids, each from 0 to 2^31 − 1.
  std::vector<TokenId> requireTokens() const;

 private:
  Failure unexpected(std::string expected) const;

  const Json* m_value;
  const ScenarioLine* m_line;
  std::string m_pointer;
};

/// Returns the object in a line of text. Throws Failure if the text is no object, or is nested more than 64
/// levels deep.
Json parseScenario(std::string_view text, const ScenarioLine& line);

/// A member of an object of a scenario.
struct Member {
  const char* name;
  bool isFound;  ///< whether the simulator computes the member; otherwise the scenario contains it
};

/// Returns `given` with `found` in place of earlier results. `members` are the members that this server's
/// simulator reads or computes, in written order. All other members of the scenario follow.
Json withFound(const Json& given, std::span<const Member> members, Json found);

/// Returns the name of an op's request. Throws Failure if the request is not running. newRequest() throws
/// Failure if the request is already running.
template <class Cache>
const std::string& runningRequest(const ScenarioPlace& op, const Cache& cache) {
  const std::string& request = op.field("request").requireText();
  if (cache.runs(request)) return request;
  throw op.field("request").fail('"' + request + /*id:op-of-no-request*/ "\", which is not running",
                                 /*id:a-running-request*/ "a running request");
}
template <class Cache>
const std::string& newRequest(const ScenarioPlace& op, const Cache& cache) {
  const std::string& request = op.field("request").requireText();
  if (!cache.runs(request)) return request;
  throw op.field("request").fail('"' + request + "\", which is running",
                                 /*id:no-running-request*/ "a request that is not running");
}

/// Returns the tokens of an op's prompt; at least one.
inline std::vector<TokenId> promptOf(const ScenarioPlace& op) {
  const ScenarioPlace prompt = op.field("prompt");
  std::vector<TokenId> tokens = prompt.requireTokens();
  if (tokens.empty()) throw prompt.fail("no token", /*id:prompt-least-token*/ "at least one token");
  return tokens;
}

/// Replays each op of the scenario with a `Replay` object. Returns the scenario with the results. Emits
/// events if `story` is not null.
template <class Replay>
Json replayOps(const ScenarioPlace& scenario, ScenarioTrace* story) {
  Replay replay(scenario, story);
  Json ops = Json::array();
  for (const ScenarioPlace& op : scenario.field("ops").elements()) ops.push_back(replay.replay(op));
  Json written = scenario.value();
  written["ops"] = std::move(ops);
  return written;
}

/// All prompts and answers that a server has computed, including evicted ones. A cache simulator uses this
/// object to explain misses. Memory grows with every request.
class SeenTokens {
 public:
  void add(std::string_view salt, std::span<const TokenId> tokens);

  /// Returns the fates of a prompt. The first `cached` tokens of the prompt are hits, and the first `kept`
  /// tokens are in the cache. Both numbers are multiples of `block`.
  std::vector<FateRun> fates(std::string_view salt, std::span<const TokenId> prompt, std::size_t cached,
                             std::size_t kept, std::size_t block) const;

 private:
  sglang::RadixTree m_tree{1};
};

}  // namespace spanscope::simulator
