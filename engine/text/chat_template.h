// SPDX-License-Identifier: GPL-3.0-or-later
// Chat templates as tables, not programs: a span is rendered alone, so a template must say what stands before
// and after the text of each role.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"
#include "engine/text/tokenizer.h"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// What stands around a text: control pieces and literal text, in order.
struct TemplatePiece {
  bool control =
      false;  ///< `text` spells one control piece; else it is encoded as text together with the message
  std::string text;
};

/// How one family of checkpoints writes a conversation. `leading` literal text joins the message's own text
/// before it is encoded, so that joined spans give the same ids as the whole conversation.
struct ChatTemplate {
  std::string name;
  std::array<std::vector<TemplatePiece>, 3> prefix;  ///< by query::Role
  std::array<std::vector<TemplatePiece>, 3> suffix;  ///< by query::Role
  std::vector<TemplatePiece> generationPrompt;
  std::vector<TemplatePiece> replySuffix;  ///< closes a generated reply that did not close itself
  std::string replyLeading;  ///< text every reply begins with and that is not part of the answer
};

/// Ids of one message; `textBegin` and `textCount` tell the message's own text from the template around it.
struct RenderedMessage {
  std::vector<TokenId> ids;
  std::int32_t textBegin = 0;
  std::int32_t textCount = 0;
};

RenderedMessage render(const ChatTemplate& chat, const Tokenizer& tokenizer, query::Role role,
                       std::string_view text);
std::vector<TokenId> renderPieces(const std::vector<TemplatePiece>& pieces, const Tokenizer& tokenizer);

/// The table's entry for a model directory, found by its `chat_template`. Throws Failure naming what is
/// known.
const ChatTemplate& findChatTemplate(const std::filesystem::path& directory);

}  // namespace spanscope::text
