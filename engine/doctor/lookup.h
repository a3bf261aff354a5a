// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the cached tokens of each request by the caching rules of its server. A log that names its servers
// has a cache for each. Open this file to change how the tokens of a request are looked up.
#pragma once

#include "engine/doctor/alignment.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/prompt_tokens.h"
#include "engine/simulator/servers.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::doctor {

/// Completes the options by what a request of the log says about its server.
DoctorOptions rulesOf(DoctorOptions options, const LoggedServer& server);

/// Number of the tokens [begin, end) that are in a repeat and not before `from`.
std::size_t coveredTokens(const std::vector<Repeat>& repeats, std::size_t from, std::size_t begin,
                          std::size_t end);

/// One server with its rules and its cache.
class ServerCache {
 public:
  /// Throws Failure if the server is unknown or refuses the settings.
  ServerCache(const DoctorOptions& given, const LoggedServer& server);

  std::size_t block() const { return m_block; }
  bool isLimited() const { return m_isLimited; }
  bool hasSlots() const { return m_hasSlots; }
  /// Whether the user or the log gave the number of slots.
  bool areSlotsKnown() const { return m_areSlotsKnown; }
  /// For the user: "vLLM 0.33.0, blocks of 16 tokens".
  const std::string& setting() const { return m_setting; }
  /// Whole blocks of a common prefix. The last token of a prompt is always computed.
  std::size_t whole(std::size_t common, std::size_t prompt) const;
  /// nullptr: the longest common prefix decides.
  simulator::Simulator* simulator() { return m_simulator.get(); }

 private:
  std::unique_ptr<simulator::Simulator> m_simulator;
  std::size_t m_block = 1;
  bool m_hasSlots = false;
  bool m_areSlotsKnown = false;
  bool m_isLimited = false;
  std::string m_setting;
};

/// The caches of all servers of a log.
class Lookup {
 public:
  /// Throws Failure if the options name an unknown server, or settings that the server refuses.
  explicit Lookup(const DoctorOptions& options);

  struct Result {
    Alignment::Found found;  ///< in the requests of all servers
    /// In the requests of this server. The numbers of requests in it are not those of the log.
    Alignment::Found onServer;
    std::size_t cached = 0;                 ///< by the rules; more if the server reported more
    std::size_t byRules = 0;                ///< by the rules alone
    std::size_t withoutLimits = 0;          ///< if all servers had one cache without limits
    std::size_t onServerWithoutLimits = 0;  ///< if this server had no limits
    bool isInOtherSlot = false;
    SlotDoubt doubt = SlotDoubt::None;
    std::string slot{};
    const ServerCache* cache = nullptr;  ///< of the server; never null
    std::string server{};                ///< its name; empty: the log names none
  };
  /// Looks the prompt up, and adds the request to the cache of its server. A request without the name of a
  /// server goes to the server of the request before it.
  Result add(const LoggedRequest& request, const PromptTokens& tokens, std::optional<std::uint32_t> previous);

  /// The settings of all servers, for the user.
  std::string setting() const;
  /// Whether a time to live comes from a request, not from the options.
  bool hasStatedLife() const { return m_statedLife > 0; }
  /// Tokens of a block of the first server.
  std::size_t block() const;
  std::size_t servers() const { return m_servers.size(); }

 private:
  struct Server {
    ServerCache cache;
    std::optional<Alignment> alignment;  ///< nothing: all requests are of this server
    std::int64_t lastStart = std::numeric_limits<std::int64_t>::min();
    bool hasConcurrent = false;  ///< requests of the server ran at the same time
  };
  /// Asks the simulator of a server with slots or a limited pool.
  static void simulate(Server& server, const LoggedRequest& request, const PromptTokens& tokens,
                       const std::string& salt, bool hasLife, Result& result);
  /// A request of the first server, as long as this server is the only one.
  struct Past {
    std::uint64_t realm = 0;
    std::size_t prompt = 0;
    std::int64_t time = 0;
  };
  Server& serverOf(const LoggedRequest& request);
  std::string cacheSetting() const;

  DoctorOptions m_options;
  Alignment m_alignment;
  std::map<std::string, Server> m_servers;  ///< by name; "": the log names none
  std::string m_last;                       ///< name of the server of the last request
  std::vector<Past> m_past;
  std::optional<std::int64_t> m_life;
  std::int64_t m_statedLife = 0;  ///< the longest time to live that a request stated and that was used; ms
  std::int64_t m_lastTime = 0;
};

}  // namespace spanscope::doctor
