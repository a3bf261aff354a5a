// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the bodies of OpenAI's endpoints with vLLM's extensions. A known field with an unsupported value is
// an error. Unknown fields are ignored. Open this file to add a field.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::server {

/// Max number of answers to one prompt.
inline constexpr std::int32_t kMostReplies = 16;
/// Max number of other tokens whose probabilities are reported beside a sampled token.
inline constexpr std::int32_t kMostAlternatives = 20;
/// Max number of stop texts, and max bytes of each.
inline constexpr std::size_t kMostStops = 16;
inline constexpr std::size_t kMostStopBytes = 1024;

/// The settings that both kinds of completion share.
struct CallSettings {
  std::string model{};                      ///< empty: not given
  std::optional<std::int32_t> maxTokens{};  ///< at least 1; nothing: the limit of the server applies
  float temperature = 1;                    ///< 0 … 2
  std::int32_t minTokens = 0;  ///< no end token or stop text ends a shorter answer; at most maxTokens
  bool ignoresEnd = false;     ///< no end token ends an answer
  float topP = 1;              ///< greater than 0, at most 1
  std::int32_t topK = 0;       ///< 0: off
  std::optional<std::uint64_t> seed{};  ///< nothing: a new seed for each request
  std::int32_t replies = 1;             ///< number of answers to each prompt
  std::vector<std::string> stops{};
  bool logprobs = false;          ///< the answer has the log probabilities of the sampled tokens
  std::int32_t alternatives = 0;  ///< number of most likely tokens beside each sampled token
  bool stream = false;
  bool includesUsage = false;  ///< the last piece of a stream has the counts
  std::string cacheSalt{};
};

struct ChatCall {
  CallSettings settings;
  std::vector<query::Message> messages;  ///< at least one message
};

struct CompletionCall {
  CallSettings settings;
  std::vector<std::string> prompts;  ///< prompts as text; at least one prompt, unless `tokens` has prompts
  std::vector<std::vector<TokenId>> tokens{};  ///< prompts that were given as ids
};

/// The request of vLLM's /tokenize: the tokens of a text, or of a conversation.
struct TokenizeCall {
  std::string model;
  std::optional<std::string> prompt;
  std::vector<query::Message> messages{};
  bool addsGenerationPrompt = true;  ///< adds the generation prompt to a conversation
  bool addsSpecialTokens = true;     ///< adds special tokens to a text
  bool tellsTexts = false;           ///< adds the displayed text of each token
};

struct DetokenizeCall {
  std::string model;
  std::vector<TokenId> tokens;
};

/// Each function throws ApiFailure.
ChatCall readChatCall(std::string_view body);
CompletionCall readCompletionCall(std::string_view body);
TokenizeCall readTokenizeCall(std::string_view body);
DetokenizeCall readDetokenizeCall(std::string_view body);

}  // namespace spanscope::server
