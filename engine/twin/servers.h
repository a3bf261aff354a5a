// SPDX-License-Identifier: GPL-3.0-or-later
// The servers that have a twin. Each has a folder of its own here and a line in servers.cpp. Window and
// command line read this list.
#pragma once

#include "engine/twin/twin.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::twin {

class ScenarioPlace;
class ScenarioStory;

/// Constants that live as long as the program.
struct Server {
  const char* name;     ///< "vllm": the name in options
  const char* title;    ///< "vLLM"
  const char* version;  ///< which version the rules are of: "0.33.0"
  const char* help;     ///< what it finds, in a sentence
  /// The form of its scenarios, in a sentence or two.
  const char* scenarios;
  /// Why, in its own words; nullptr: fateSentence() says it.
  const char* (*why)(Fate fate);
  /// How it is set up, as a person reads it: "blocks of 16 tokens"
  std::string (*setup)(const Settings& settings);
  /// Throws Failure for settings that the server would not take.
  std::unique_ptr<Twin> (*open)(const Settings& settings);
  /// The scenario with what the twin finds. Throws Failure if something is missing or wrong. `story`: gets
  /// what happens; null: nobody does.
  nlohmann::ordered_json (*replay)(const ScenarioPlace& scenario, ScenarioStory* story);
};

/// Why tokens have this fate at this server, as a person reads it.
const char* whyAt(const Server& server, Fate fate);

/// All servers, in the order in which they are offered.
std::span<const Server* const> servers();
/// The server of this name; nullptr if there is none.
const Server* findServer(std::string_view name);
std::vector<std::string> serverNames();

/// A line of a file of scenarios with what the twin finds, as one line without its end. `file` and `line`
/// (from 1) are for errors. Throws Failure as Server::replay does, and for what is no scenario at all.
std::string replayLine(const Server& server, std::string_view text, const std::string& file, std::size_t line,
                       ScenarioStory* story = nullptr);

/// llama-server of llama.cpp 0c1e57098 with a model whose layers all have full attention.
extern const Server kLlamaCpp;

/// SGLang 0.5.23 with a model whose layers all have full attention.
extern const Server kSglang;

/// vLLM 0.33.0 with a model whose layers all have full attention.
extern const Server kVllm;

}  // namespace spanscope::twin
