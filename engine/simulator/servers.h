// SPDX-License-Identifier: GPL-3.0-or-later
// The interface of cache simulators. A cache simulator implements the caching rules of another server. For
// each request, it reports the tokens that the server would reuse. The simulator does not run the model, so
// each request contains its answer. Open this file first when you work on cache simulators.
//
// Lists the servers that have a cache simulator. Each server has its own folder and a line in servers.cpp.
// The window and the command line use this list. Open this file to add a server.
#pragma once

#include "engine/base/ids.h"
#include "engine/simulator/order/child_order.h"
#include "engine/simulator/tracing/cache_tracer.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::simulator {

/// The fate of tokens of a prompt, with the reason.
enum class Fate : std::uint8_t {
  Found,             ///< hit: kept at this position after this prefix
  Moved,             ///< kept after another prefix, and relocated to this position (approximate)
  Differs,           ///< computed: no kept content continues like this
  Gone,              ///< computed: an earlier request had the tokens, but they were evicted
  NotWhole,          ///< computed: an earlier request had the tokens, but only full blocks or pages are kept
  AlwaysRecomputed,  ///< computed: kept, but the last token of a prompt and its block are always computed
  TooLittle,         ///< computed: the request does not fit into the server's cache and is refused
};
const char* fateName(Fate fate);      ///< "found", "moved", "differs", …
const char* fateSentence(Fate fate);  ///< the reason, for the user

/// Tokens [begin, begin + count) of a prompt.
struct FateRun {
  std::int32_t begin = 0;
  std::int32_t count = 0;
  Fate fate = Fate::Differs;
  bool operator==(const FateRun&) const = default;
};

struct RequestTimes {
  std::int64_t arrival = 0;
  std::int64_t end = 0;
};

/// A request with its prompt and its whole answer.
struct Request {
  std::span<const TokenId> prompt;  ///< at least one token
  std::span<const TokenId> answer;  ///< the sampled tokens; the server has not computed the last one
  std::string_view salt;            ///< empty: none
  /// Whether the request arrives during the answer to the previous request. This fact matters only for
  /// servers with slots, because a slot answers one request at a time.
  bool isBeside = false;
  /// When the request arrives, and when its answer is complete. All requests have the same clock, and come in
  /// the order of their arrival. The slots of a server are busy in these times. Nothing: isBeside applies.
  std::optional<RequestTimes> times{};
};

struct Answer {
  bool isRefused = false;
  std::int32_t cached = 0;     ///< tokens of the prompt that are not computed
  std::vector<FateRun> fates;  ///< fates of all tokens of the prompt, in order
  /// The place of the lookup, for the user: "slot 0, which had 35 tokens". Empty: the server has only one
  /// place.
  std::string place{};
  bool operator==(const Answer&) const = default;
};

/// The settings of a simulator. A server ignores settings that it does not have.
struct Settings {
  std::int64_t cacheTokens = 0;  ///< max tokens in the cache; 0: unlimited
  std::int32_t blockSize = 0;    ///< tokens of a block or page; 0: the server's default
  std::int32_t slots = 0;        ///< kept sequences; 0: the server's default
  std::int32_t chunk = 0;        ///< min tokens of a run that is relocated; 0: nothing is relocated
  std::int64_t tokenBytes = 0;   ///< bytes of the keys and values of a token; 0: unknown
};

inline constexpr const char* kServedName = "served";

/// A server with the contents of its cache.
class Simulator {
 public:
  Simulator() = default;
  virtual ~Simulator() = default;
  Simulator& operator=(const Simulator&) = delete;
  Simulator& operator=(Simulator&&) = delete;

  /// Returns a copy of this simulator in the same state.
  virtual std::unique_ptr<Simulator> copy() const = 0;
  virtual CacheShape shape() const = 0;
  /// Returns a function that gives the hits of a beginning in the present state, without salt. The function
  /// is fast if its calls differ only at their ends. The function must not outlive the simulator or its
  /// state.
  virtual CachedTokens cachedBeginnings() const = 0;
  /// Returns the max tokens of further requests that cause no eviction. A request counts with its tokens and
  /// two blocks. Within this limit, the order of the requests does not matter. The hits of a prompt are then
  /// the max of its hits in this state and after each single request. Nothing: the hits depend on the order.
  virtual std::optional<std::int64_t> room() const = 0;
  /// Serves a request. Throws Failure and changes nothing if the prompt has no tokens. `observer`, if not
  /// null, gets the events of the cache. In these events, the request has the name kServedName.
  virtual Answer serve(const Request& request, CacheObserver* observer) = 0;
  Answer serve(const Request& request) { return serve(request, nullptr); }

 protected:
  Simulator(const Simulator&) = default;
  Simulator(Simulator&&) = default;
};

class ScenarioPlace;
class ScenarioTrace;

struct FateReason {
  Fate fate;
  const char* text;
};

/// A server with a cache simulator. All Server objects are constants.
struct Server {
  const char* name;     ///< the name in options: "vllm"
  const char* title;    ///< "vLLM"
  const char* version;  ///< the version with these rules: "0.33.0"
  const char* help;     ///< one sentence about what the server reuses
  /// The format of its scenarios, in one or two sentences.
  const char* scenarios;
  /// The reasons for fates in the terms of the server. Other fates have fateSentence().
  std::span<const FateReason> reasons;
  /// Describes the settings for the user: "blocks of 16 tokens".
  std::string (*setup)(const Settings& settings);
  /// Makes a simulator. Throws Failure for settings that the server would refuse.
  std::unique_ptr<Simulator> (*open)(const Settings& settings);
  /// Returns the scenario with the simulated results. Throws Failure if the scenario has a fault. `story`
  /// gets the events. Null: no events.
  nlohmann::ordered_json (*replay)(const ScenarioPlace& scenario, ScenarioTrace* story);
};

/// Returns the reason for a fate at this server, for the user.
const char* whyAt(const Server& server, Fate fate);

/// Returns all servers in the order in which the user sees them.
std::span<const Server* const> servers();
/// Returns the server with this name, or nullptr.
const Server* findServer(std::string_view name);
std::vector<std::string> serverNames();

/// Returns a line of a file of scenarios with the simulated results, as one line without its end. `file` and
/// `line` (from 1) are for errors. Throws Failure like Server::replay, and for a line that is not a scenario.
std::string replayLine(const Server& server, std::string_view text, const std::string& file, std::size_t line,
                       ScenarioTrace* story = nullptr);

/// llama-server of llama.cpp 0c1e57098 with a model whose layers all have full attention.
extern const Server kLlamaCpp;

/// SGLang 0.5.23 with a model whose layers all have full attention.
extern const Server kSglang;

/// vLLM 0.33.0 with a model whose layers all have full attention.
extern const Server kVllm;

}  // namespace spanscope::simulator
