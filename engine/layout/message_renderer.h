// SPDX-License-Identifier: GPL-3.0-or-later
// Encodes the messages of prompts once, for one template and one tokenizer. Open this file to change limits
// or caching of encoded texts.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/layout/layouts.h"
#include "engine/query/query.h"
#include "engine/text/chat_template.h"
#include "engine/text/conversation.h"
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

/// The conditions under which the layout of a prompt is aborted.
struct PromptLimits {
  std::stop_token stop = {};
  std::int64_t mostTokens = std::numeric_limits<std::int64_t>::max();
  Error tooLong = {};  ///< thrown if a prompt, or a message of it, has more than mostTokens tokens
};

/// Writes the sections of a conversation with one template and one tokenizer. The renderer encodes each text
/// once for all prompts. The copies of a repeat share all their texts. The renderer keeps all results during
/// its lifetime. Not thread-safe.
class MessageRenderer {
 public:
  struct Message {
    query::Role role = query::Role::User;
    std::string_view text;
    text::Place place = text::Place::Later;
  };

  /// Template and tokenizer must outlive the renderer.
  MessageRenderer(const text::Tokenizer& tokenizer, const text::ChatTemplate& chat)
      : m_tokenizer(tokenizer), m_chat(chat) {}

  /// Whether the template renders whole conversations. Then use conversation() for the messages. message()
  /// gives the turn of a message in a short conversation.
  bool rendersConversations() const { return m_chat.program != nullptr; }

  /// Returns the tokens of a conversation, for a template that renders whole conversations. Throws Failure,
  /// and text::MessageFailure if the template refuses a message. The reference is valid until the next call.
  const text::RenderedConversation& conversation(const std::vector<text::ConversationMessage>& messages);

  /// Encodes long texts in several threads, for later calls of message(). Nothing else changes. message()
  /// reports a text that cannot be encoded or exceeds the limits.
  void prepare(const std::vector<Message>& messages);

  /// The next five functions throw Failure if a text cannot be encoded or the tokenizer lacks a control
  /// piece. The references are valid during the renderer's lifetime.
  const text::RenderedMessage& message(query::Role role, std::string_view text, text::Place place);
  /// Like text::renderOpening().
  const std::vector<TokenId>& opening(bool startsWithSystem);
  const std::vector<TokenId>& generationPrompt();
  const std::vector<TokenId>& answerSuffix();
  /// Returns the tokens that close an assistant message of the query. Sampled answers have answerSuffix().
  const std::vector<TokenId>& assistantSuffix();

  /// Sets the layout and the block size in tokens for later calls. The initial layout is exact. Throws like
  /// markerTokens().
  void useLayout(Layout layout, std::int32_t blockSize);
  const LayoutRules& rules() const { return m_rules; }

  /// Sets the limits for later calls. Initially there are none. When the job is stopped, all functions throw
  /// Failure.
  void useLimits(PromptLimits limits) { m_limits = std::move(limits); }
  /// Throws Failure if a prompt of this number of tokens is too long.
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
  const text::RenderedMessage& range(const text::ConversationText& conversation, text::TextRange range);

  const text::Tokenizer& m_tokenizer;
  const text::ChatTemplate& m_chat;
  std::optional<text::ControlPieces> m_controls;
  std::string m_conversationKey;  ///< roles and texts of m_conversation
  text::RenderedConversation m_conversation;
  Texts m_ranges;  ///< by text, and places of the messages' own texts in it
  std::optional<std::vector<TokenId>> m_generationPrompt;
  std::optional<std::vector<TokenId>> m_answerSuffix;
  std::optional<std::vector<TokenId>> m_assistantSuffix;
  std::optional<MarkerTokens> m_markers;
  LayoutRules m_rules;
  PromptLimits m_limits;
  std::array<std::optional<std::vector<TokenId>>, 2> m_openings;  ///< by whether the first message is a
                                                                  ///< system message
  std::array<std::array<Texts, 2>, 3> m_messages;                 ///< by query::Role and text::Place
};

}  // namespace spanscope::layout
