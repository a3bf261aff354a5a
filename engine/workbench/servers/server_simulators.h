// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps cache simulators (engine/simulator) of servers. A simulator contains every request that this program
// has sent to its server. A run can then compare the predicted reuse of each prompt with the server's report.
// Open this file when such a prediction is wrong.
#pragma once

#include "engine/base/ids.h"
#include "engine/export/chat_requests.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/simulator/servers.h"
#include "engine/simulator/simulator.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// A simulator with the settings that its server reports. Other settings have their defaults.
struct SimulatorSetup {
  simulator::Settings settings;
  bool isAsSaid = false;  ///< the server reports some of the settings
  std::string
      problem{};  ///< the reason why nothing is predicted, in a sentence; empty: there is a prediction
};
/// `slots` and `cache`: as the server reported them.
SimulatorSetup simulatorSetup(remote::ServerKind kind, std::optional<std::int64_t> slots,
                              const remote::CacheFacts& cache);

/// A simulator's prediction for a prompt.
struct PredictedReuse {
  std::int64_t prompt = 0;  ///< tokens
  std::int64_t found = 0;   ///< number of these tokens that are hits
  std::string simulator;    ///< simulatorTitle()
  bool operator==(const PredictedReuse&) const = default;
};

/// Returns "vLLM 0.33.0", with a longer text for a server of another version. `version` is the server's own.
/// Empty: not reported.
std::string simulatorTitle(const simulator::Server& server, const std::string& version);

/// A simulator knows all requests of this program to its server. A simulator does not know requests of other
/// programs. Any thread may call the functions.
class ServerSimulators {
 public:
  /// A prompt in progress.
  struct Sent {
    PredictedReuse predicted;
    std::uint64_t number = 0;  ///< for end()
  };
  /// Sends a prompt to the simulator of a server. Opens a simulator if there is none yet, or if the server's
  /// settings changed. The prompt arrives while other prompts are unfinished. Nothing: that kind of server
  /// has no simulator, or reports that it reuses nothing. Throws Failure if the simulator throws Failure.
  std::optional<Sent> send(const std::string& server, const remote::ServerFacts& facts,
                           std::vector<TokenId> prompt);
  /// Ends a prompt with its sampled answer. Nothing: the server has not computed the prompt, or has another
  /// model. The prompt then leaves nothing in the simulator's cache. Every sent prompt must be ended.
  void end(const std::string& server, std::uint64_t number, std::optional<std::vector<TokenId>> answer);

 private:
  struct UnderWay {
    std::uint64_t number = 0;
    std::vector<TokenId> prompt;
    std::vector<TokenId> answer{};  ///< once the prompt has ended
    bool isBeside = false;
    bool hasEnded = false;
  };
  struct Known {
    remote::ServerKind kind = remote::ServerKind::OpenAi;
    std::optional<std::int64_t> slots;
    remote::CacheFacts cache;
    std::unique_ptr<simulator::Simulator> simulator;  ///< the state before the first prompt of `sent`
    std::vector<UnderWay> sent{};                     ///< in order; the first has not ended
  };

  static simulator::Answer serve(simulator::Simulator& simulator, const UnderWay& sent);

  std::mutex m_mutex;
  std::uint64_t m_last = 0;
  std::map<std::string, Known> m_simulators;
};

/// Returns the tokens of a chat for a server with the same tokenizer and chat template. Throws Failure if the
/// template has no turn for a role.
std::vector<TokenId> chatTokens(const std::vector<exports::ChatMessage>& messages,
                                const text::Tokenizer& tokenizer, const text::ChatTemplate& chat);

}  // namespace spanscope::workbench
