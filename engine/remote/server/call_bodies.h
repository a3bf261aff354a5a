// SPDX-License-Identifier: GPL-3.0-or-later
// The bodies of OpenAI's endpoints, as vLLM extends them. What cannot be done as it is asked is refused in
// words, never passed over; fields that nobody knows are.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::server {

/// Most replies to one prompt.
inline constexpr std::int32_t kMostReplies = 16;
/// Most tokens beside each that was drawn whose probabilities are told.
inline constexpr std::int32_t kMostAlternatives = 20;
/// Most stop texts, and bytes of each.
inline constexpr std::size_t kMostStops = 16;
inline constexpr std::size_t kMostStopBytes = 1024;

/// What is common to both kinds of completion.
struct CallSettings {
  std::string model{};                      ///< empty: not given
  std::optional<std::int32_t> maxTokens{};  ///< at least 1; none: up to the limit of the server
  float temperature = 1;                    ///< 0 … 2
  std::int32_t minTokens = 0;           ///< no end token and no stop ends a reply before; at most maxTokens
  bool ignoresEnd = false;              ///< no end token ends a reply
  float topP = 1;                       ///< more than 0, at most 1
  std::int32_t topK = 0;                ///< 0: off
  std::optional<std::uint64_t> seed{};  ///< none: another one each time
  std::int32_t replies = 1;             ///< to each prompt
  std::vector<std::string> stops{};
  bool logprobs = false;          ///< of the tokens that were drawn
  std::int32_t alternatives = 0;  ///< likeliest tokens beside each of them
  bool stream = false;
  bool includesUsage = false;  ///< a last piece of a stream says what was counted
  std::string cacheSalt{};
};

struct ChatCall {
  CallSettings settings;
  std::vector<query::Message> messages;  ///< at least one
};

struct CompletionCall {
  CallSettings settings;
  std::vector<std::string> prompts;            ///< at least one, unless there is `tokens`
  std::vector<std::vector<TokenId>> tokens{};  ///< prompts that were given as ids
};

/// What vLLM's /tokenize asks: the tokens of a text, or of a conversation.
struct TokenizeCall {
  std::string model;
  std::optional<std::string> prompt;
  std::vector<query::Message> messages{};
  bool addsGenerationPrompt = true;  ///< to a conversation
  bool addsSpecialTokens = true;     ///< to a text
  bool tellsTexts = false;           ///< how each token is shown
};

struct DetokenizeCall {
  std::string model;
  std::vector<TokenId> tokens;
};

/// Each throws ApiFailure.
ChatCall readChatCall(std::string_view body);
CompletionCall readCompletionCall(std::string_view body);
TokenizeCall readTokenizeCall(std::string_view body);
DetokenizeCall readDetokenizeCall(std::string_view body);

}  // namespace spanscope::server
