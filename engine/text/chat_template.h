// SPDX-License-Identifier: GPL-3.0-or-later
// Chat templates as tables, not programs: a span is rendered alone, so a template must say what stands before
// and after the text of each role.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"
#include "engine/text/tokenizer.h"

#include <array>
#include <filesystem>
#include <optional>
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

/// What stands around the messages of one role.
struct TurnForm {
  std::vector<TemplatePiece> prefix;
  std::vector<TemplatePiece> suffix;
  bool trim = false;  ///< white space at both ends of the message is left out
};

/// How one family of checkpoints writes a conversation. Literal text joins the message's own text before it
/// is encoded, so that joined spans give the same ids as the whole conversation.
struct ChatTemplate {
  std::string name;
  std::vector<TemplatePiece> opening;            ///< stands before the first message
  std::array<std::optional<TurnForm>, 3> turns;  ///< by query::Role; none where the family has no such turn
  std::optional<TurnForm> openingSystem;         ///< of a system message that comes first, if that differs
  std::optional<std::string> defaultSystem;      ///< what the system says where it does not come first
  std::vector<TemplatePiece> generationPrompt;
  std::vector<TemplatePiece> replySuffix;  ///< closes a generated reply that did not close itself
  std::string replyLeading;  ///< text every reply begins with and that is not part of the answer
};

/// Where a message stands in its conversation.
enum class Place { First, Later };

/// Ids of one message; `textBegin` and `textCount` tell the message's own text from the template around it.
struct RenderedMessage {
  std::vector<TokenId> ids;
  std::int32_t textBegin = 0;
  std::int32_t textCount = 0;
};

/// Throws Failure if the family has no turn for the role or the tokenizer lacks a control piece. `limits` are
/// those of Tokenizer::encode(): where there are more ids than limits.mostTokens, not all are given.
RenderedMessage render(const ChatTemplate& chat, const Tokenizer& tokenizer, query::Role role,
                       std::string_view text, Place place = Place::Later, const EncodeLimits& limits = {});
std::vector<TokenId> renderPieces(const std::vector<TemplatePiece>& pieces, const Tokenizer& tokenizer);

/// What a conversation begins with before its own first message: `startsWithSystem` says whether that one is
/// the system's.
std::vector<TokenId> renderOpening(const ChatTemplate& chat, const Tokenizer& tokenizer,
                                   bool startsWithSystem);

/// The same as text, control pieces spelled out: for people, and for servers that take a whole prompt.
std::string spell(const std::vector<TemplatePiece>& pieces);
std::string spellMessage(const ChatTemplate& chat, query::Role role, std::string_view text,
                         Place place = Place::Later);
std::string spellOpening(const ChatTemplate& chat, bool startsWithSystem);

/// How an entry of the table was found to belong to a checkpoint.
enum class TemplateMatch {
  Fingerprint,  ///< the whole text of its template is known
  Markers       ///< its template has the markers of a family; what else it does is not known
};

struct FoundChatTemplate {
  const ChatTemplate* chat = nullptr;  ///< lives as long as the program
  TemplateMatch match = TemplateMatch::Fingerprint;
};

/// The table's entry for a template's text (a Jinja program); nothing if neither its fingerprint nor its
/// markers are known.
std::optional<FoundChatTemplate> matchChatTemplate(std::string_view source);

/// The table's entry for a model directory: by chat_template.jinja, else by tokenizer_config.json, else by
/// the GGUF file. Throws Failure naming what is known.
const ChatTemplate& findChatTemplate(const std::filesystem::path& directory);

/// The names of all entries, as a person reads them: "spanlet, llama-3, …".
std::string chatTemplateNames();

/// The entry with a name, which a person chose. Throws Failure naming what is known.
const ChatTemplate& chatTemplateNamed(std::string_view name);

}  // namespace spanscope::text
