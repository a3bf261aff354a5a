// SPDX-License-Identifier: GPL-3.0-or-later
// What this program has sent to servers, kept by their twins (engine/twin): so that a run there can say what
// its server was to find of each prompt, beside what it reports.
#pragma once

#include "engine/base/ids.h"
#include "engine/export/chat_requests.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/twin/servers.h"
#include "engine/twin/twin.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// A twin as far as its server says how it is set up; the rest is as it starts by itself.
struct TwinSetup {
  twin::Settings settings;
  bool isAsSaid = false;  ///< the server says something of it
  std::string problem{};  ///< why there is nothing to be foretold, in a sentence; empty: there is
};
/// `slots` and `cache`: what it said of itself.
TwinSetup twinSetup(remote::ServerKind kind, std::optional<std::int64_t> slots,
                    const remote::CacheFacts& cache);

/// What a twin says of a prompt.
struct Foretold {
  std::int64_t prompt = 0;  ///< tokens
  std::int64_t found = 0;   ///< of these
  std::string twin;         ///< twinTitle()
  bool operator==(const Foretold&) const = default;
};

/// "vLLM 0.33.0"; for a server of another version "vLLM 0.32.0 by the rules of 0.33.0". `version`: the
/// server's own; empty: it does not say.
std::string twinTitle(const twin::Server& server, const std::string& version);

/// It knows a server from the first request on that this program sends there: whatever else the server was
/// sent, it does not know. Any thread may call it.
class ServerTwins {
 public:
  /// A prompt that is under way.
  struct Sent {
    Foretold foretold;
    std::uint64_t number = 0;  ///< for end()
  };
  /// Sends a prompt to the twin of a server, which is opened where there is none yet, or where the server was
  /// started in another way since. It comes beside those that have not ended. Nothing: that kind of server
  /// has no twin, or it says that it finds nothing. Throws Failure as Twin::serve().
  std::optional<Sent> send(const std::string& server, const remote::ServerFacts& facts,
                           std::vector<TokenId> prompt);
  /// What became of it: the reply as far as it was sampled. None: the server has not computed it, or it has
  /// another model, so that it leaves nothing in the twin's cache. Every prompt that was sent is to be ended.
  void end(const std::string& server, std::uint64_t number, std::optional<std::vector<TokenId>> reply);

 private:
  struct UnderWay {
    std::uint64_t number = 0;
    std::vector<TokenId> prompt;
    std::vector<TokenId> reply{};  ///< once it has ended
    bool isBeside = false;
    bool hasEnded = false;
  };
  struct Known {
    remote::ServerKind kind = remote::ServerKind::OpenAi;
    std::optional<std::int64_t> slots;
    remote::CacheFacts cache;
    std::unique_ptr<twin::Twin> twin;  ///< as it was before the first of these
    std::vector<UnderWay> sent{};      ///< in order; the first has not ended
  };

  static twin::Answer serve(twin::Twin& twin, const UnderWay& sent);

  std::mutex m_mutex;
  std::uint64_t m_last = 0;
  std::map<std::string, Known> m_twins;
};

/// The tokens of a chat as a server writes it that has the same tokenizer and chat template. Throws Failure
/// where the template has no turn for a role.
std::vector<TokenId> chatTokens(const std::vector<exports::ChatMessage>& messages,
                                const text::Tokenizer& tokenizer, const text::ChatTemplate& chat);

}  // namespace spanscope::workbench
