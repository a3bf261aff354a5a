// SPDX-License-Identifier: GPL-3.0-or-later
// What this program has sent to servers, kept by their twins (engine/twin): so that a run there can say what
// its server was to find of each prompt, beside what it reports.
#pragma once

#include "engine/base/ids.h"
#include "engine/export/chat_requests.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
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

/// What a twin says of a prompt.
struct Foretold {
  std::int64_t prompt = 0;  ///< tokens
  std::int64_t found = 0;   ///< of these
  std::string twin;         ///< "llama.cpp 0c1e57098"
  bool operator==(const Foretold&) const = default;
};

/// It knows a server from the first request on that this program sends there: whatever else the server was
/// sent, it does not know. Any thread may call it.
class ServerTwins {
 public:
  /// Serves a prompt at the twin of a server, which is opened where there is none yet. Nothing: that kind of
  /// server has no twin. Throws Failure as Twin::serve().
  std::optional<Foretold> foretell(const std::string& server, const remote::ServerFacts& facts,
                                   const std::vector<TokenId>& prompt);
  /// What became of the prompt that was foretold last: its reply. It goes into the twin's cache with this.
  void note(const std::string& server, const std::vector<TokenId>& prompt, const std::vector<TokenId>& reply);

 private:
  std::mutex m_mutex;
  std::map<std::string, std::unique_ptr<twin::Twin>> m_twins;
};

/// The tokens of a chat as a server writes it that has the same tokenizer and chat template. Throws Failure
/// where the template has no turn for a role.
std::vector<TokenId> chatTokens(const std::vector<exports::ChatMessage>& messages,
                                const text::Tokenizer& tokenizer, const text::ChatTemplate& chat);

}  // namespace spanscope::workbench
