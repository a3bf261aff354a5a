// SPDX-License-Identifier: GPL-3.0-or-later
// Chat templates as tables and not as programs. Spans are rendered separately. A template therefore defines
// the text before and after each role. Open this file to render messages or to find the template of a
// checkpoint.
// The chat templates of IBM/spnl, for comparisons. Open this file when an export must equal SPNL's text.
#pragma once

#include "engine/base/ids.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/query/query.h"
#include "engine/text/tokenizer.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

class TemplateProgram;

/// A control piece or a literal text. A list of pieces comes before or after a text.
struct TemplatePiece {
  bool control = false;  ///< `text` is one control piece; otherwise it is encoded as text, together with the
                         ///< message
  std::string text;
  /// The tokenizers of the family drop white space after the control piece ("rstrip"). This white space is
  /// written but gives no ids. GGUF files do not report this property, so the template stores this property.
  bool dropsSpaceAfter = false;
  bool isRaw = false;  ///< `text` may contain control pieces of the tokenizer, as a program of Jinja writes
                       ///< them
};

/// The characters that are removed from the ends of a message.
enum class Trim {
  Nothing,
  Start,        ///< white space at the beginning, as in Python
  End,          ///< white space at the end, as in Python: with U+001C to U+001F
  Both,         ///< the same white space at both ends
  UnicodeBoth,  ///< white space at both ends, as in Unicode and SPNL
  LinesBefore   ///< line ends before the first line
};

/// The text that a template writes for a system message without text.
enum class EmptySystem {
  Written,         ///< the turn, with no text in it
  Default,         ///< for the first message: the turn with the default system message
  Omitted,         ///< for the first message: nothing
  OmittedAnywhere  ///< nothing
};

/// How a template changes the text of a message.
enum class TextChange {
  Nothing,
  Trimmed,  ///< white space at the ends is removed
  Changed,  ///< a part of the text is removed or replaced, e.g. earlier reasoning
  Merged,   ///< the text is part of the turn of another message
  Omitted   ///< the text is not written
};

/// The text before and after each message of a role.
struct TurnForm {
  std::vector<TemplatePiece> prefix;
  std::vector<TemplatePiece> suffix;
  Trim trim = Trim::Nothing;
};

/// How one family of checkpoints writes a conversation. Literal text is joined to the message's own text
/// before encoding. Joined spans therefore give the same ids as the whole conversation.
struct ChatTemplate {
  std::string name;  ///< of the entry of the table; kProgramName for a template that Jinja renders
  std::vector<TemplatePiece> opening;            ///< comes before the first message
  std::array<std::optional<TurnForm>, 3> turns;  ///< by query::Role; nothing if the family has no such turn
  std::optional<TurnForm> openingSystem;     ///< the form of a system message that comes first, if it differs
  std::optional<std::string> defaultSystem;  ///< the system message of a conversation that begins without one
  EmptySystem emptySystem = EmptySystem::Written;
  std::vector<TemplatePiece> generationPrompt;
  std::vector<TemplatePiece> answerSuffix;  ///< closes a generated answer that does not close itself
  std::string answerLeading;  ///< text at the beginning of every answer that is not part of the answer's
                              ///< content

  /// The program of Jinja that renders whole conversations, or null. With a program, the other members are
  /// the turns of short conversations.
  std::shared_ptr<const TemplateProgram> program = {};
};

/// Place of a message in its conversation.
enum class Place { First, Later };

/// Ids of one message. The message's own text has `textCount` ids from `textBegin`. The template gives the
/// other ids.
struct RenderedMessage {
  std::vector<TokenId> ids;
  std::int32_t textBegin = 0;
  std::int32_t textCount = 0;
  TextChange change = TextChange::Nothing;
};

/// Throws Failure if the family has no turn for the role, or the tokenizer lacks a control piece. `limits`:
/// as in Tokenizer::encode(). With more than limits.mostTokens ids, some ids are missing.
RenderedMessage render(const ChatTemplate& chat, const Tokenizer& tokenizer, query::Role role,
                       std::string_view text, Place place = Place::Later, const EncodeLimits& limits = {});
std::vector<TokenId> renderPieces(const std::vector<TemplatePiece>& pieces, const Tokenizer& tokenizer);

/// Returns the beginning of a conversation before its first message. `startsWithSystem`: whether that message
/// is a system message.
std::vector<TokenId> renderOpening(const ChatTemplate& chat, const Tokenizer& tokenizer,
                                   bool startsWithSystem);

/// Returns the text without the characters that `trim` removes.
std::string_view trimmed(std::string_view text, Trim trim);

/// Returns the pieces as text, with control pieces spelled out. For users, and for servers that take a whole
/// prompt.
std::string spell(const std::vector<TemplatePiece>& pieces);
std::string spellMessage(const ChatTemplate& chat, query::Role role, std::string_view text,
                         Place place = Place::Later);
std::string spellOpening(const ChatTemplate& chat, bool startsWithSystem);

/// How an entry of the table was matched to a checkpoint.
enum class TemplateMatch {
  Fingerprint,  ///< the fingerprint of the whole template is known
  Rendering,    ///< the template writes short conversations like this entry
  Jinja,        ///< no entry of the table: Jinja renders the template
  Markers       ///< the template has the delimiters of a family; the rest of it is unknown
};

struct FoundChatTemplate {
  const ChatTemplate* chat = nullptr;  ///< has the lifetime of the program
  TemplateMatch match = TemplateMatch::Fingerprint;
};

/// Returns the entry of the table for a template's text (a Jinja program). Returns nothing if neither the
/// fingerprint nor the delimiters of the text are known.
std::optional<FoundChatTemplate> matchChatTemplate(std::string_view source);

/// A checkpoint's own template, a Jinja program.
struct TemplateSource {
  std::string text;
  std::string file;
  std::string place;  ///< in the file; empty: the whole file
};

/// Returns the template in chat_template.jinja, else in tokenizer_config.json, else in the GGUF file. Throws
/// Failure if there is none.
TemplateSource templateSource(const checkpoint::Checkpoint& checkpoint);

/// Returns the template of a checkpoint. The first of these is used:
/// - the entry of the table with the fingerprint of the template;
/// - the entry that writes the same short conversations;
/// - the program of Jinja (ChatTemplate::program);
/// - without Python and Jinja, the entry with the delimiters of the template.
///
/// Throws Failure if there is none. Without Jinja, the error names the package. The result has the lifetime
/// of the program.
const ChatTemplate& findChatTemplate(const checkpoint::Checkpoint& checkpoint);
/// Returns the same, and how it was found. Throws the same.
FoundChatTemplate locateChatTemplate(const checkpoint::Checkpoint& checkpoint);

/// Returns a checkpoint's own template with values for its variables, rendered by Jinja. `variables` is a
/// JSON object as for TemplateProgram, or empty. Throws Failure if the template or the variables cannot be
/// used. The result has the lifetime of the program.
const ChatTemplate& programTemplate(const checkpoint::Checkpoint& checkpoint, const std::string& variables);

/// Returns all templates that can be chosen by name: the entries of the table in order, then SPNL's turns.
/// The templates have the lifetime of the program.
std::vector<const ChatTemplate*> chatTemplates();

/// Returns every control piece that prompts of the template may contain, each once.
std::vector<std::string> controlPieces(const ChatTemplate& chat);

/// Returns the names of all entries, for the user: "spanlet, llama-3, …".
std::string chatTemplateNames();

/// Returns the entry with this name, or null.
const ChatTemplate* findChatTemplateNamed(std::string_view name);

/// Returns the entry with the name that the user chose. Throws Failure that lists the known names.
const ChatTemplate& chatTemplateNamed(std::string_view name);

/// Returns the turns as IBM/spnl 0.22 writes them, each message separately. The families' own templates have
/// a line break between turns, and SPNL has none. SPNL's ChatML also has no line break after the generation
/// prompt. SPNL's turns are for exports that are compared with SPNL's requests. A user chooses SPNL's turns
/// only by name.
const std::vector<ChatTemplate>& spnlChatTemplates();

}  // namespace spanscope::text
