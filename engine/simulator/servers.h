// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the servers that have a cache simulator. Each server has its own folder and a line in servers.cpp.
// The window and the command line use this list. Open this file to add a server.
#pragma once

#include "engine/simulator/simulator.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::simulator {

class ScenarioPlace;
class ScenarioTrace;

/// A server with a cache simulator. All Server objects are constants.
struct Server {
  const char* name;     ///< the name in options: "vllm"
  const char* title;    ///< "vLLM"
  const char* version;  ///< the version with these rules: "0.33.0"
  const char* help;     ///< one sentence about what the server reuses
  /// The format of its scenarios, in one or two sentences.
  const char* scenarios;
  /// Returns the reason for a fate in the terms of the server. nullptr: use fateSentence().
  const char* (*why)(Fate fate);
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
