// SPDX-License-Identifier: GPL-3.0-or-later
// Chat templates that Jinja renders, and the bounds of messages in the rendered text. Spans need these
// bounds. Open this file when a message gets text of another message, or when bounds are wrong.
#pragma once

#include "engine/base/error.h"
#include "engine/text/chat_template.h"
#include "engine/text/template_process.h"

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::text {

/// A message of a conversation.
struct ConversationMessage {
  query::Role role = query::Role::User;
  std::string_view text;
};

/// The name of templates that Jinja renders, in place of a name of the table.
inline constexpr std::string_view kProgramName = "jinja";

/// A range of bytes.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const TextRange&) const = default;
};

/// The place of one message in the text of a conversation.
struct MessageText {
  TextRange range;  ///< with the template's text around it; begins where the previous message ends
  TextChange change = TextChange::Nothing;
};

/// The text of one message, without the template's text around it. This text is within the range of a
/// message. If messages are merged, a range contains the texts of several messages.
struct OwnText {
  TextRange range;
  std::size_t message = 0;
};

/// A conversation as the template writes it. Everything except `own` is text of the template.
struct ConversationText {
  std::string text;
  std::size_t openingEnd = 0;         ///< where the first message begins
  std::vector<MessageText> messages;  ///< in the order of the conversation
  std::vector<OwnText> own;           ///< ascending, without overlap
  std::size_t promptBegin = 0;        ///< where the generation prompt begins
};

/// The template cannot render a message.
class MessageFailure final : public Failure {
 public:
  MessageFailure(std::size_t message, Error error) : Failure(std::move(error)), m_message(message) {}
  /// The number of the message in the conversation, from 0.
  std::size_t message() const { return m_message; }

 private:
  std::size_t m_message;
};

/// A chat template that Jinja renders, with values for the template's variables. Several threads may use one
/// object.
class TemplateProgram {
 public:
  /// `variables`: a JSON object. Its member "messages" is not a variable, but an object with further fields
  /// of messages, by their number from 0: {"2": {"reasoning_content": "…"}}. `process` must outlive the
  /// object. Throws Failure if the template cannot render short conversations.
  TemplateProgram(std::string source, const std::string& variables, TemplateProcess& process);

  /// Renders a conversation. More renderings show the bounds of the messages. Some have marks in place of the
  /// texts, and some have only the first messages. All renderings must have the same bounds. Throws
  /// MessageFailure if the template refuses a message. Throws Failure after a stop, or beyond the limits of
  /// TemplateProcess.
  ConversationText render(std::span<const ConversationMessage> messages, bool generationPrompt = true,
                          const std::stop_token& stop = {}) const;

  const std::string& source() const { return m_source; }
  /// Whether the template needs each message as a list of parts: [{"type": "text", "text": "…"}]. Templates
  /// of models that read pictures often need this list.
  bool takesParts() const { return m_takesParts; }

  /// Returns the template's text before and after each turn of a short conversation, as raw pieces
  /// (TemplatePiece::isRaw). A turn is missing if the template refuses its role.
  const ChatTemplate& form() const { return m_form; }

 private:
  class Bounds;
  using Renderings = std::vector<Rendering>;

  Renderings request(std::span<const TemplateConversation> conversations, const std::stop_token& stop) const;
  TemplateConversation conversationOf(std::span<const ConversationMessage> messages, std::size_t count,
                                      bool generationPrompt) const;
  [[noreturn]] void refuse(std::span<const ConversationMessage> messages, const Rendering& whole,
                           bool generationPrompt, const std::stop_token& stop) const;
  ChatTemplate findForm();

  std::string m_source;
  std::string m_variables;
  std::string m_bos;                            ///< the token that begins a text, or empty
  std::string m_eos;                            ///< the token that ends a text, or empty
  std::map<std::size_t, std::string> m_fields;  ///< by number of the message
  TemplateProcess& m_process;
  bool m_takesParts = false;
  ChatTemplate m_form;
  mutable std::mutex m_mutex;
  /// The template writes text between two messages. The map has the number of bytes of this text that belong
  /// to the first message. The keys are made from the roles and this text.
  mutable std::map<std::string, std::size_t> m_ends;
};

}  // namespace spanscope::text
