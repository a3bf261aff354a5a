// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/spnl/prompt_tokens.h"

#include "engine/base/error.h"
#include "engine/query/node_parts.h"
#include "engine/spnl/marker_layout.h"
#include "engine/spnl/server_body.h"

#include <utility>

namespace spanscope::spnl {
namespace {

/// The whole way from a body to ids, with one tokenizer and template.
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

  /// Nothing if the end was asked for.
  std::vector<std::vector<TokenId>> promptsOf(const query::Node& body, const std::stop_token& stop) const {
    const bool isMap = query::inputsOf(body) != nullptr;
    spnl::BodyTokens tokens;
    for (const query::Message& message : spnl::messagesOf(body)) {
      if (stop.stop_requested()) return {};
      const bool isFirst = isMap || tokens.messages.empty();
      std::vector<TokenId> ids;
      if (isFirst) ids = text::renderOpening(*m_chat, *m_tokenizer, message.role == query::Role::System);
      const auto rendered = text::render(*m_chat, *m_tokenizer, message.role, message.text,
                                         isFirst ? text::Place::First : text::Place::Later, {.stop = stop});
      ids.insert(ids.end(), rendered.ids.begin(), rendered.ids.end());
      tokens.messages.push_back(std::move(ids));
    }
    tokens.generationPrompt = text::renderPieces(m_chat->generationPrompt, *m_tokenizer);
    return spnl::layoutWithMarkers(body, tokens, m_markers);
  }

 private:
  TokenId checked(const char* name, TokenId id) const {
    if (id >= 0 && id < m_tokenizer->vocabularySize()) return id;
    throw Failure(Error{"", name, "the id " + std::to_string(id),
                        "0 to " + std::to_string(m_tokenizer->vocabularySize() - 1)});
  }

  const text::Tokenizer* m_tokenizer;
  const text::ChatTemplate* m_chat;
  spnl::MarkerOptions m_markers;
};

/// Ids with commas; `perLine`: a line break and two blanks before so many each, 0: none.
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
  // A body that the server takes is sent as it is, empty messages included.
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
      // After a stop, the encoding of a text is given up by a Failure.
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

}  // namespace spanscope::spnl
