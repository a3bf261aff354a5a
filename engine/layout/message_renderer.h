// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/layout/layouts.h"
#include "engine/query/query.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spanscope::layout {

/// When to give up a prompt that is being laid out.
struct PromptLimits {
  std::stop_token stop = {};
  std::int64_t mostTokens = std::numeric_limits<std::int64_t>::max();
  Error tooLong = {};  ///< thrown as soon as a prompt, or a message of it, has more than mostTokens tokens
};

/// Writes the parts of a conversation with one template and one tokenizer. It encodes each text once, however
/// many prompts contain it: the copies of a repeat share all their texts. It keeps all results as long as it
/// lives. Not thread-safe.
class MessageRenderer {
 public:
  struct Message {
    query::Role role = query::Role::User;
    std::string_view text;
    text::Place place = text::Place::Later;
  };

  /// Both must outlive the renderer.
  MessageRenderer(const text::Tokenizer& tokenizer, const text::ChatTemplate& chat)
      : m_tokenizer(tokenizer), m_chat(chat) {}

  /// Encodes long texts that message() will be asked for, several at once on as many processors. Nothing else
  /// changes: a text that cannot be encoded, or that would be too much for the limits, is left to message().
  void prepare(const std::vector<Message>& messages);

  /// The next five functions throw Failure if a text cannot be encoded, or if the tokenizer lacks a control
  /// piece of the template. The references stay valid as long as the renderer lives.
  const text::RenderedMessage& message(query::Role role, std::string_view text, text::Place place);
  /// As text::renderOpening().
  const std::vector<TokenId>& opening(bool startsWithSystem);
  const std::vector<TokenId>& generationPrompt();
  const std::vector<TokenId>& replySuffix();
  /// The tokens that close a message of the assistant that somebody wrote, as opposed to a sampled reply.
  const std::vector<TokenId>& assistantSuffix();

  /// Sets the layout and the block size in tokens of everything that is laid out from now on. At first the
  /// layout is exact. Throws as markerTokens().
  void useLayout(Layout layout, std::int32_t blockSize);
  const LayoutRules& rules() const { return m_rules; }

  /// Sets the limits of everything that is laid out from now on. At first there are none. On a stop all
  /// functions throw Failure.
  void useLimits(PromptLimits limits) { m_limits = std::move(limits); }
  /// Throws Failure if a prompt of so many tokens is too long.
  void checkLength(std::int64_t tokens) const {
    if (tokens > m_limits.mostTokens) throw Failure(m_limits.tooLong);
  }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Texts = std::unordered_map<std::string, text::RenderedMessage, TextHash, std::equal_to<>>;

  Texts& textsOf(query::Role role, text::Place place) {
    return m_messages.at(static_cast<std::size_t>(role)).at(static_cast<std::size_t>(place));
  }
  text::RenderedMessage render(const Message& message) const;

  const text::Tokenizer& m_tokenizer;
  const text::ChatTemplate& m_chat;
  std::optional<std::vector<TokenId>> m_generationPrompt;
  std::optional<std::vector<TokenId>> m_replySuffix;
  std::optional<std::vector<TokenId>> m_assistantSuffix;
  std::optional<MarkerTokens> m_markers;
  LayoutRules m_rules;
  PromptLimits m_limits;
  std::array<std::optional<std::vector<TokenId>>, 2> m_openings;  ///< by whether the first message is a
                                                                  ///< system message
  std::array<std::array<Texts, 2>, 3> m_messages;                 ///< by query::Role and text::Place
};

}  // namespace spanscope::layout
