// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/spnl/prompt_tokens.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/query/node_parts.h"
#include "engine/spnl/request_text.h"
#include "engine/text/conversation.h"

#include <algorithm>
#include <utility>

namespace spanscope::spnl {

namespace {

/// Converts bodies to ids, with one tokenizer and template.
class BodyWriter {
 public:
  BodyWriter(const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
             const PromptTokenOptions& options)
      : m_tokenizer(&tokenizer), m_chat(&chat) {
    m_markers.blockSize = options.blockSize;
    m_markers.pad = checked("pad", options.pad);
    if (options.plus) m_markers.plus = checked("plus", *options.plus);
    if (options.cross) m_markers.cross = checked("cross", *options.cross);
    const auto& assistant = chat.turns[static_cast<std::size_t>(query::Role::Assistant)];
    if (assistant) {
      m_markers.assistantSuffix =
          static_cast<std::int32_t>(text::renderPieces(assistant->suffix, tokenizer).size());
    }
  }

  /// Returns nothing after a stop.
  std::vector<std::vector<TokenId>> promptsOf(const query::Node& body, const std::stop_token& stop) const {
    const bool isMap = query::inputsOf(body) != nullptr;
    spnl::BodyTokens tokens;
    std::vector<text::ConversationMessage> conversation;
    const auto renderAll = [&] {
      const text::RenderedConversation rendered =
          text::renderConversation(*m_chat, *m_tokenizer, conversation, {.stop = stop});
      for (const text::RenderedMessage& message : rendered.messages) {
        std::vector<TokenId> ids = message.ids;
        if (&message == rendered.messages.data())
          ids.insert(ids.begin(), rendered.opening.begin(), rendered.opening.end());
        tokens.messages.push_back(std::move(ids));
      }
      conversation.clear();
    };
    const std::vector<query::Message> messages = spnl::messagesOf(body);
    for (const query::Message& message : messages) {
      if (stop.stop_requested()) return {};
      conversation.push_back({message.role, message.text});
      if (isMap) renderAll();
    }
    if (!conversation.empty()) renderAll();
    tokens.generationPrompt = text::renderPieces(m_chat->generationPrompt, *m_tokenizer);
    return spnl::layoutWithMarkers(body, tokens, m_markers);
  }

 private:
  TokenId checked(const char* name, TokenId id) const {
    if (id >= 0 && id < m_tokenizer->vocabularySize()) return id;
    throw Failure(Error{"", name, "the token id " + std::to_string(id),
                        "0 to " + std::to_string(m_tokenizer->vocabularySize() - 1)});
  }

  const text::Tokenizer* m_tokenizer;
  const text::ChatTemplate* m_chat;
  spnl::MarkerOptions m_markers;
};

/// Appends ids with commas. With `perLine`, each line has this number of ids after two spaces; 0: one line.
void appendIds(std::string& out, const std::vector<TokenId>& ids, std::size_t perLine) {
  out += '[';
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out += ',';
    if (perLine > 0) out += i % perLine == 0 ? "\n  " : " ";
    out += std::to_string(ids[i]);
  }
  out += perLine > 0 ? "\n]" : "]";
}

std::string written(const CallTokens& call, std::size_t perLine) {
  std::string out = perLine > 0 ? "{\"ids\": " : "{\"ids\":";
  if (call.isMap) out += '[';
  for (std::size_t i = 0; i < call.prompts.size(); ++i) {
    if (i > 0) out += perLine > 0 ? ", " : ",";
    appendIds(out, call.prompts[i], perLine);
  }
  if (call.isMap) out += ']';
  return out + "}";
}

}  // namespace

std::vector<CallTokens> promptTokens(const query::Node& query, const text::Tokenizer& tokenizer,
                                     const text::ChatTemplate& chat, const PromptTokenOptions& options,
                                     const std::stop_token& stop) {
  // A body that the server accepts is sent unchanged, including empty messages.
  const spnl::ServerBodies bodies = spnl::isServerBody(query)
                                        ? spnl::ServerBodies{.bodies = {{{}, query}}, .withheld = {}}
                                        : spnl::serverBodies(query);
  const BodyWriter writer(tokenizer, chat, options);
  std::vector<CallTokens> calls;
  for (const spnl::ServerBody& body : bodies.bodies) {
    CallTokens call{.node = body.node, .isMap = query::inputsOf(body.body) != nullptr, .prompts = {}};
    try {
      call.prompts = writer.promptsOf(body.body, stop);
    } catch (const Failure&) {
      // After a stop, the encoding of a text ends with a Failure.
      if (!stop.stop_requested()) throw;
    }
    if (stop.stop_requested()) break;
    calls.push_back(std::move(call));
  }
  return calls;
}

std::string tokensOnOneLine(const CallTokens& call) {
  return written(call, 0);
}

std::string tokensByBlock(const CallTokens& call, std::int32_t blockSize) {
  return written(call, blockSize > 0 ? static_cast<std::size_t>(blockSize) : 1) + "\n";
}

namespace {

using query::JoinKind;

void collect(const query::Node& node, std::vector<query::Message>& messages) {
  if (const auto* message = node.as<query::Message>()) messages.push_back(*message);
  query::forEachChild(
      node, [&](const query::Node& child, const std::string& /*step*/) { collect(child, messages); });
}

class MarkerWriter {
 public:
  MarkerWriter(const BodyTokens& tokens, const MarkerOptions& options)
      : m_tokens(&tokens), m_options(&options), m_block(static_cast<std::size_t>(options.blockSize)) {}

  std::vector<TokenId> take() { return std::exchange(m_ids, {}); }

  void padToBlock() {
    while (m_ids.size() % m_block != 0) m_ids.push_back(m_options->pad);
  }

  void mark(std::optional<TokenId> marker) {
    if (!marker) return;
    padToBlock();
    m_ids.push_back(*marker);
  }

  void write(const query::Node& node) {
    if (const auto* message = node.as<query::Message>()) {
      writeMessage(message->role);
      return;
    }
    const auto& join = *node.as<query::Join>();
    for (std::size_t i = 0; i < join.children.size(); ++i) {
      if (join.kind == JoinKind::Plus) mark(m_options->plus);
      if (join.kind == JoinKind::Cross && i + 1 == join.children.size()) mark(m_options->cross);
      write(join.children[i]);
    }
  }

  void writeMessage(query::Role role) {
    const std::vector<TokenId>& ids = m_tokens->messages[m_nextMessage++];
    if (role != query::Role::Assistant) {
      m_ids.insert(m_ids.end(), ids.begin(), ids.end());
      return;
    }
    const std::size_t suffix = std::min(ids.size(), static_cast<std::size_t>(m_options->assistantSuffix));
    const std::size_t begin = m_ids.size();
    m_ids.insert(m_ids.end(), ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(suffix));
    m_ids.resize(std::max(begin, m_ids.size() / m_block * m_block));
  }

  void writeGenerationPrompt() {
    // If both delimiters have the same token, this token counts as a cross delimiter.
    const bool endsWithPlus = lastMarker() == m_options->plus && m_options->plus != m_options->cross;
    if (m_options->plus && m_options->cross && endsWithPlus) mark(m_options->plus);
    m_ids.insert(m_ids.end(), m_tokens->generationPrompt.begin(), m_tokens->generationPrompt.end());
  }

 private:
  /// Finds delimiters by token, like a server. Text and padding with the same token also count as delimiters.
  std::optional<TokenId> lastMarker() const {
    const auto found = std::find_if(m_ids.rbegin(), m_ids.rend(), [this](TokenId id) {
      return id == m_options->plus || id == m_options->cross;
    });
    return found == m_ids.rend() ? std::nullopt : std::optional<TokenId>(*found);
  }

  const BodyTokens* m_tokens;
  const MarkerOptions* m_options;
  std::size_t m_block;
  std::size_t m_nextMessage = 0;
  std::vector<TokenId> m_ids;
};

void check(bool isFine, std::string place, std::string found, std::string expected) {
  if (!isFine) throw Failure({"", std::move(place), std::move(found), std::move(expected)});
}

}  // namespace

std::vector<query::Message> messagesOf(const query::Node& body) {
  std::vector<query::Message> messages;
  if (const std::vector<std::string>* inputs = query::inputsOf(body)) {
    for (const std::string& input : *inputs) messages.push_back({query::Role::User, input});
  } else {
    collect(body, messages);
  }
  return messages;
}

std::vector<std::vector<TokenId>> layoutWithMarkers(const query::Node& body, const BodyTokens& tokens,
                                                    const MarkerOptions& options) {
  check(spnl::isServerBody(body), "", std::string("an operator \"") + query::operatorName(body) + "\"",
        "a generate, repeat or map node whose prompt contains only messages, seq, cross and plus");
  check(options.blockSize >= 1, "block size", std::to_string(options.blockSize), "1 or more tokens");
  check(options.assistantSuffix >= 0, "assistant suffix", std::to_string(options.assistantSuffix),
        "0 or more tokens");
  const std::size_t wanted = messagesOf(body).size();
  check(tokens.messages.size() == wanted, "", counted(tokens.messages.size(), "message") + " with tokens",
        std::to_string(wanted) + ", one for each message of the query");

  MarkerWriter writer(tokens, options);
  std::vector<std::vector<TokenId>> prompts;
  if (const std::vector<std::string>* inputs = query::inputsOf(body)) {
    prompts.reserve(inputs->size());
    for (std::size_t i = 0; i < inputs->size(); ++i) {
      writer.mark(options.plus);
      writer.writeMessage(query::Role::User);
      writer.padToBlock();
      prompts.push_back(writer.take());
    }
    return prompts;
  }
  writer.write(*query::generateOf(body)->input);
  writer.writeGenerationPrompt();
  prompts.push_back(writer.take());
  return prompts;
}

}  // namespace spanscope::spnl
