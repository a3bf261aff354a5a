// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simulator/servers.h"

#include "engine/simulator/scenario.h"

#include <algorithm>
#include <array>

namespace spanscope::simulator {
namespace {

// The list of all servers. Register a new server here.
constexpr std::array<const Server*, 3> kServers{&kVllm, &kSglang, &kLlamaCpp};

struct FateText {
  Fate fate;
  const char* name;
  const char* sentence;
};

constexpr std::array<FateText, 7> kFates{
    {{Fate::Found, "found", "stored by an earlier request"},
     {Fate::Moved, "moved", "stored after other tokens by an earlier request"},
     {Fate::Differs, "differs", "no stored request continues with these tokens"},
     {Fate::Gone, "gone", "stored by an earlier request, but evicted"},
     {Fate::NotWhole, "not_whole", "in an earlier request, but only full blocks are cached"},
     {Fate::AlwaysRecomputed, "always_again", "stored, but the last token of a prompt is always recomputed"},
     {Fate::TooLittle, "too_little", "the cache has too little space for the request"}}};

const FateText& textOf(Fate fate) {
  return *std::ranges::find(kFates, fate, &FateText::fate);
}

}  // namespace

const char* fateName(Fate fate) {
  return textOf(fate).name;
}

const char* fateSentence(Fate fate) {
  return textOf(fate).sentence;
}

const char* whyAt(const Server& server, Fate fate) {
  const auto own = std::ranges::find(server.reasons, fate, &FateReason::fate);
  return own == server.reasons.end() ? fateSentence(fate) : own->text;
}

std::span<const Server* const> servers() {
  return kServers;
}

const Server* findServer(std::string_view name) {
  const auto found = std::ranges::find(kServers, name, &Server::name);
  return found == kServers.end() ? nullptr : *found;
}

std::vector<std::string> serverNames() {
  std::vector<std::string> names;
  for (const Server* server : kServers) names.emplace_back(server->name);
  return names;
}

std::string replayLine(const Server& server, std::string_view text, const std::string& file, std::size_t line,
                       ScenarioTrace* story) {
  const ScenarioLine place{file, line};
  const Json scenario = parseScenario(text, place);
  return server.replay(ScenarioPlace(scenario, place), story)
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spanscope::simulator
