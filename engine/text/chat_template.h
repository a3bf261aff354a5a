// SPDX-License-Identifier: GPL-3.0-or-later
// Chat templates as tables instead of programs. A span is rendered alone, so a template must say what stands
// before and after the text of each role.
#pragma once

#include "engine/base/ids.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/query/query.h"
#include "engine/text/tokenizer.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// A control piece or a literal text; a list of them stands before or after a text.
struct TemplatePiece {
  bool control =
      false;  ///< `text` spells one control piece; otherwise it is encoded as text, together with the message
  std::string text;
  /// The family's tokenizers drop white space that follows the control piece ("rstrip"), so it is spelled but
  /// gives no ids. GGUF files do not say so, hence the template does.
  bool dropsSpaceAfter = false;
};

/// What is removed from the ends of a message.
enum class Trim {
  Nothing,
  End,          ///< white space at the end, as Python has it: with U+001C to U+001F
  Both,         ///< the same at both ends
  UnicodeBoth,  ///< white space at both ends, as Unicode and SPNL have it
  LinesBefore   ///< line ends before the first line
};

/// What a template writes for a system message without text.
enum class EmptySystem {
  Written,         ///< the turn, with nothing in it
  Default,         ///< of one that comes first: the turn with the default system message
  Omitted,         ///< of one that comes first: nothing
  OmittedAnywhere  ///< nothing
};

/// What stands before and after each message of a role.
struct TurnForm {
  std::vector<TemplatePiece> prefix;
  std::vector<TemplatePiece> suffix;
  Trim trim = Trim::Nothing;
};

/// How one family of checkpoints writes a conversation. Literal text is joined to the message's own text
/// before encoding, so that the joined spans give the same ids as the whole conversation.
struct ChatTemplate {
  std::string name;
  std::vector<TemplatePiece> opening;            ///< stands before the first message
  std::array<std::optional<TurnForm>, 3> turns;  ///< by query::Role; none if the family has no such turn
  std::optional<TurnForm> openingSystem;         ///< the form of a system message that comes first, if it
                                                 ///< differs
  std::optional<std::string> defaultSystem;      ///< the system message of a conversation that does not begin
                                                 ///< with one
  EmptySystem emptySystem = EmptySystem::Written;
  std::vector<TemplatePiece> generationPrompt;
  std::vector<TemplatePiece> replySuffix;  ///< closes a generated reply that does not close itself
  std::string replyLeading;  ///< text at the beginning of every reply that is not part of the answer
};

/// Place of a message in its conversation.
enum class Place { First, Later };

/// Ids of one message. The ids of the message's own text are `textCount` ids from `textBegin`; the template
/// gives the others.
struct RenderedMessage {
  std::vector<TokenId> ids;
  std::int32_t textBegin = 0;
  std::int32_t textCount = 0;
};

/// Throws Failure if the family has no turn for the role, or the tokenizer lacks a control piece. `limits`
/// are those of Tokenizer::encode(): if there are more than limits.mostTokens ids, not all ids are returned.
RenderedMessage render(const ChatTemplate& chat, const Tokenizer& tokenizer, query::Role role,
                       std::string_view text, Place place = Place::Later, const EncodeLimits& limits = {});
std::vector<TokenId> renderPieces(const std::vector<TemplatePiece>& pieces, const Tokenizer& tokenizer);

/// The beginning of a conversation before its first message. `startsWithSystem`: whether that message is a
/// system message.
std::vector<TokenId> renderOpening(const ChatTemplate& chat, const Tokenizer& tokenizer,
                                   bool startsWithSystem);

/// The same as text, with control pieces spelled out: for people, and for servers that take a whole prompt.
std::string spell(const std::vector<TemplatePiece>& pieces);
std::string spellMessage(const ChatTemplate& chat, query::Role role, std::string_view text,
                         Place place = Place::Later);
std::string spellOpening(const ChatTemplate& chat, bool startsWithSystem);

/// How an entry of the table was matched to a checkpoint.
enum class TemplateMatch {
  Fingerprint,  ///< the fingerprint of the whole template is known
  Markers       ///< the template has the markers of a family; the rest of it is unknown
};

struct FoundChatTemplate {
  const ChatTemplate* chat = nullptr;  ///< lives as long as the program
  TemplateMatch match = TemplateMatch::Fingerprint;
};

/// The entry of the table for a template's text (a Jinja program); nothing if neither its fingerprint nor its
/// markers are known.
std::optional<FoundChatTemplate> matchChatTemplate(std::string_view source);

/// A checkpoint's own template as it stands, a Jinja program.
struct TemplateSource {
  std::string text;
  std::string file;
  std::string place;  ///< in the file; empty: the whole file
};

/// The template in chat_template.jinja, else in tokenizer_config.json, else in the GGUF file. Throws Failure
/// if there is none.
TemplateSource templateSource(const checkpoint::Checkpoint& checkpoint);

/// The entry of the table for a checkpoint's own template. Throws Failure that lists the known templates.
const ChatTemplate& findChatTemplate(const checkpoint::Checkpoint& checkpoint);

/// All that can be chosen by name: the entries of the table in its order, then the turns as SPNL writes them.
/// They live as long as the program.
std::vector<const ChatTemplate*> chatTemplates();

/// Every control piece that prompts of the template may contain, each once.
std::vector<std::string> controlPieces(const ChatTemplate& chat);

/// The names of all entries, for people: "spanlet, llama-3, …".
std::string chatTemplateNames();

/// The entry with this name; null if there is none.
const ChatTemplate* findChatTemplateNamed(std::string_view name);

/// The same, which a person chose. Throws Failure that lists the known names.
const ChatTemplate& chatTemplateNamed(std::string_view name);

}  // namespace spanscope::text
