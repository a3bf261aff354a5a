// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/twin/telling/cache_teller.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::twin {

struct Server;

/// Tells a scenario as one run: each of its requests is a step of it, in the order in which they come. Its
/// query names the requests; what their tokens say is not known.
class ScenarioStory {
 public:
  explicit ScenarioStory(const Server& server) : m_server(server) {}

  /// The scenario begins. Gives whom its cache is to tell.
  CacheObserver& begin(std::string setup, const CacheShape& shape);
  /// A request comes. One of this name may have been there, and ended.
  void start(const std::string& request, std::span<const TokenId> prompt);
  void end(const std::string& request) { finish(request, trace::StepOutcome::EndToken); }
  /// It is refused, or loses its room.
  void fail(const std::string& request) { finish(request, trace::StepOutcome::Failed); }
  /// Says something of a request that is there.
  void say(const std::string& request, std::string text);
  /// The whole story; what has not ended by then is told as it stands. Empty if it has not begun.
  std::vector<trace::Event> events();

 private:
  void finish(const std::string& request, trace::StepOutcome outcome);

  const Server& m_server;
  std::optional<CacheTeller> m_teller;
  std::uint64_t m_runStarted = 0;
  std::uint64_t m_planMade = 0;
  std::vector<std::string> m_titles;  ///< of the steps
  std::map<std::string, ToldRequest> m_running;
};

}  // namespace spanscope::twin
