// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/chat_template.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/text/chat_template_table.h"
#include "engine/text/piece_renderer.h"
#include "engine/text/program_templates.h"
#include "engine/text/unicode.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <system_error>
#include <utility>

namespace spanscope::text {

namespace {

bool isUnicodeSpace(char32_t c) {
  return characterClass(c) == CharacterClass::WhiteSpace;
}

/// The characters that Python's str.strip and the templates' trim remove.
bool isSpace(char32_t c) {
  return isUnicodeSpace(c) || (c >= 0x1C && c <= 0x1F);
}

using IsSpace = bool (*)(char32_t);

std::string_view withoutLeadingSpace(std::string_view text, IsSpace isRemoved = &isSpace) {
  while (!text.empty() && isRemoved(firstCharacter(text))) text.remove_prefix(nextUtf8(text).length);
  return text;
}

std::string_view withoutFinalSpace(std::string_view text, IsSpace isRemoved = &isSpace) {
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && isUtf8Continuation(text[last])) --last;
    if (!isRemoved(firstCharacter(text.substr(last)))) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

constexpr const char* kNothing = "nothing";

Failure noTemplate(const std::string& file, const std::string& place) {
  return Failure(
      {file, place, kNothing, "the checkpoint's chat template, one of these: " + chatTemplateNames()});
}

/// Takes a template while its file is being read. A Failure can therefore name the line and column.
using TakeSource = std::function<void(TemplateSource)>;

/// The names of templates in a list. As in transformers, the second one is used if the prompt has tools.
constexpr const char* kDefaultTemplate = "default";
constexpr const char* kToolTemplate = "tool_use";

void readGguf(const std::filesystem::path& path, const TakeSource& take, bool hasTools) {
  std::string place = "tokenizer.chat_template";
  const checkpoint::GgufMetadata metadata = checkpoint::GgufMetadata::read(path);
  const std::string toolPlace = place + '.' + kToolTemplate;
  const std::string* source = hasTools ? metadata.text(toolPlace) : nullptr;
  if (source != nullptr)
    place = toolPlace;
  else
    source = metadata.text(place);
  if (source == nullptr) throw noTemplate(path.string(), place);
  take({*source, path.string(), place});
}

/// A template is a text, or a list of named texts.
void readConfiguration(const checkpoint::JsonPlace& config, const TakeSource& take, bool hasTools) {
  const checkpoint::JsonPlace field = config.field("chat_template");
  if (field.isNull()) throw noTemplate(field.file(), field.pointer());
  if (field.value().is_array()) {
    const auto takeNamed = [&](const char* name) {
      for (std::size_t i = 0; i < field.value().size(); ++i) {
        const checkpoint::JsonPlace entry = field.element(i);
        if (!entry.value().is_object() || entry.field("name").value() != name) continue;
        const checkpoint::JsonPlace source = entry.field("template");
        take({source.requireText(), source.file(), source.pointer()});
        return true;
      }
      return false;
    };
    if ((hasTools && takeNamed(kToolTemplate)) || takeNamed(kDefaultTemplate)) return;
  } else if (field.value().is_string()) {
    take({field.requireText(), field.file(), field.pointer()});
    return;
  }
  const std::string type = field.value().type_name();
  throw field.fail((type == "array" || type == "object" ? "an " : "a ") + type,
                   "a text, or a list with a template that is named \"default\"");
}

/// `hasTools`: the prompt has tools, so a template for tools is used if there is one.
void readSource(const checkpoint::Checkpoint& checkpoint, const TakeSource& take, bool hasTools = false) {
  checkpoint.require();
  // Newer checkpoints have a separate file for the template. Older checkpoints have a field in the
  // tokenizer's file. Checkpoints that also read images may have a JSON file with the template alone.
  const std::filesystem::path own = checkpoint.path() / "chat_template.jinja";
  std::error_code error;
  if (std::filesystem::is_regular_file(own, error)) {
    take({checkpoint::readFileBytes(own, checkpoint::kMaxTokenizerConfigBytes, "a chat template"),
          own.string(), ""});
    return;
  }
  const auto readJson = [&](const std::filesystem::path& file, const char* what) {
    checkpoint::readJsonFile(
        file, checkpoint::kMaxTokenizerConfigBytes, what,
        [&](const checkpoint::JsonPlace& root) { readConfiguration(root, take, hasTools); });
  };
  if (const auto json = checkpoint.path() / "chat_template.json";
      std::filesystem::is_regular_file(json, error)) {
    readJson(json, "a chat template");
    return;
  }
  if (!checkpoint.find("tokenizer_config.json")) {
    if (const std::optional<std::filesystem::path> gguf = checkpoint.anyGguf()) {
      readGguf(*gguf, take, hasTools);
      return;
    }
  }
  readJson(checkpoint.path() / "tokenizer_config.json", "the configuration of a tokenizer");
}

/// Whether the variables have a list of tools that is not empty.
bool namesTools(const std::string& variables) {
  const nlohmann::json read = nlohmann::json::parse(variables, nullptr, false);
  if (!read.is_object()) return false;
  const auto tools = read.find("tools");
  return tools != read.end() && tools->is_array() && !tools->empty();
}

/// Throws the failure of a program as a failure of its file.
[[noreturn]] void throwAt(const TemplateSource& source, const Failure& failure) {
  Error error = failure.error();
  error.file = source.file;
  // Errors of variables keep their place.
  if (error.place == "chat template") error.place = source.place;
  throw Failure(std::move(error));
}

FoundChatTemplate requireKnown(const TemplateSource& source, const std::string& tokens) {
  const std::optional<FoundChatTemplate> found = matchChatTemplate(source.text);
  if (found && found->match == TemplateMatch::Fingerprint) return *found;
  try {
    const ChatTemplate& chat = programTemplateOf(source.text, tokens);
    const ChatTemplate* known = entryLike(chat);
    if (known != nullptr) return {known, TemplateMatch::Rendering};
    return {&chat, TemplateMatch::Jinja};
  } catch (const Failure& failure) {
    if (found) return *found;
    constexpr std::size_t kShown = 60;
    const std::string shown =
        toValidUtf8(source.text.substr(0, kShown)) + (source.text.size() > kShown ? "…" : "");
    const bool isMissing = sharedTemplateProcess().isMissing();
    throw Failure({source.file, source.place,
                   "the unknown chat template \"" + shown + "\" (" + failure.error().found + ")",
                   isMissing ? failure.error().expected + ": " + chatTemplateNames()
                             : "a known template: " + chatTemplateNames()});
  }
}

const TurnForm& formOf(const ChatTemplate& chat, query::Role role, Place place) {
  if (role == query::Role::System && place == Place::First && chat.openingSystem) return *chat.openingSystem;
  const std::optional<TurnForm>& form = chat.turns[static_cast<std::size_t>(role)];
  if (!form) {
    throw Failure({"", "chat template",
                   "a message of the role \"" + std::string(query::roleName(role)) + "\"",
                   "no such message, because the template \"" + chat.name +
                       "\" has no turn for this role. Move the text of the message into a user message"});
  }
  return *form;
}

/// Returns the form of a message with this text. If the template writes a fixed text for an empty message,
/// that text is part of the form.
TurnForm formOf(const ChatTemplate& chat, query::Role role, Place place, std::string_view text) {
  TurnForm form = formOf(chat, role, place);
  const bool isFirstSystem = role == query::Role::System && place == Place::First;
  const bool hasDefault = chat.emptySystem == EmptySystem::Default && chat.defaultSystem;
  if (isFirstSystem && hasDefault && trimmed(text, form.trim).empty())
    form.prefix.push_back({.text = *chat.defaultSystem});
  return form;
}

/// Whether the template writes nothing at all for the message.
bool isOmitted(const ChatTemplate& chat, query::Role role, Place place, std::string_view text) {
  if (role != query::Role::System || !text.empty()) return false;
  return chat.emptySystem == EmptySystem::OmittedAnywhere ||
         (chat.emptySystem == EmptySystem::Omitted && place == Place::First);
}

RenderedMessage renderTurn(const TurnForm& form, const Tokenizer& tokenizer, std::string_view text,
                           const EncodeLimits& limits) {
  PieceRenderer renderer(tokenizer, limits);
  renderer.add(form.prefix);
  // The text is made valid UTF-8 here too. The lengths in bytes are then those of the encoded text.
  const std::string valid = toValidUtf8(text);
  const std::string_view written = trimmed(valid, form.trim);
  renderer.addOwn(written);
  renderer.add(form.suffix);
  RenderedMessage rendered = renderer.finish();
  if (written != valid) rendered.change = TextChange::Trimmed;
  return rendered;
}

std::string spellTurn(const TurnForm& form, std::string_view text) {
  const std::string valid = toValidUtf8(text);
  return spell(form.prefix) + std::string(trimmed(valid, form.trim)) + spell(form.suffix);
}

/// Whether the code of a template has the family's markers, and no markers of other families.
bool hasMarkers(const KnownChatTemplate& known, const std::string& code) {
  const auto isIn = [&](const std::string& marker) {
    return code.find(markerCode(marker)) != std::string::npos;
  };
  return !known.markers.empty() && std::ranges::all_of(known.markers, isIn) &&
         std::ranges::none_of(known.foreign, isIn);
}

}  // namespace

std::string_view trimmed(std::string_view text, Trim trim) {
  switch (trim) {
    case Trim::Nothing:
      return text;
    case Trim::Start:
      return withoutLeadingSpace(text);
    case Trim::End:
      return withoutFinalSpace(text);
    case Trim::Both:
      return withoutFinalSpace(withoutLeadingSpace(text));
    case Trim::UnicodeBoth:
      return withoutFinalSpace(withoutLeadingSpace(text, &isUnicodeSpace), &isUnicodeSpace);
    case Trim::LinesBefore:
      break;
  }
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  return text;
}

RenderedMessage render(const ChatTemplate& chat, const Tokenizer& tokenizer, query::Role role,
                       std::string_view text, Place place, const EncodeLimits& limits) {
  if (isOmitted(chat, role, place, text)) return {};
  return renderTurn(formOf(chat, role, place, text), tokenizer, text, limits);
}

std::vector<TokenId> renderPieces(const std::vector<TemplatePiece>& pieces, const Tokenizer& tokenizer) {
  PieceRenderer renderer(tokenizer);
  renderer.add(pieces);
  return renderer.finish().ids;
}

std::vector<TokenId> renderOpening(const ChatTemplate& chat, const Tokenizer& tokenizer,
                                   bool startsWithSystem) {
  std::vector<TokenId> ids = renderPieces(chat.opening, tokenizer);
  if (startsWithSystem || !chat.defaultSystem) return ids;
  const RenderedMessage system =
      render(chat, tokenizer, query::Role::System, *chat.defaultSystem, Place::First);
  ids.insert(ids.end(), system.ids.begin(), system.ids.end());
  return ids;
}

std::string spell(const std::vector<TemplatePiece>& pieces) {
  std::string text;
  for (const TemplatePiece& piece : pieces) text += piece.text;
  return text;
}

std::string spellMessage(const ChatTemplate& chat, query::Role role, std::string_view text, Place place) {
  if (isOmitted(chat, role, place, text)) return {};
  return spellTurn(formOf(chat, role, place, text), text);
}

std::string spellOpening(const ChatTemplate& chat, bool startsWithSystem) {
  std::string text = spell(chat.opening);
  if (!startsWithSystem && chat.defaultSystem) {
    text += spellMessage(chat, query::Role::System, *chat.defaultSystem, Place::First);
  }
  return text;
}

std::optional<FoundChatTemplate> matchChatTemplate(std::string_view source) {
  const std::uint64_t fingerprint = templateFingerprint(source);
  for (const KnownChatTemplate& known : knownChatTemplates()) {
    if (std::ranges::find(known.fingerprints, fingerprint) != known.fingerprints.end()) {
      return FoundChatTemplate{&known.chat, TemplateMatch::Fingerprint};
    }
  }
  // White space between tags would be written with every message. No entry of the table has such white space.
  if (writesSpaceBetweenTags(source)) return std::nullopt;
  const std::string code = templateCode(source);
  for (const KnownChatTemplate& known : knownChatTemplates()) {
    if (hasMarkers(known, code)) return FoundChatTemplate{&known.chat, TemplateMatch::Markers};
  }
  return std::nullopt;
}

std::vector<const ChatTemplate*> chatTemplates() {
  std::vector<const ChatTemplate*> all;
  for (const KnownChatTemplate& known : knownChatTemplates()) all.push_back(&known.chat);
  for (const ChatTemplate& chat : spnlChatTemplates()) all.push_back(&chat);
  return all;
}

std::vector<std::string> controlPieces(const ChatTemplate& chat) {
  std::vector<std::string> pieces;
  const auto add = [&pieces](const std::vector<TemplatePiece>& list) {
    for (const TemplatePiece& piece : list) {
      if (piece.control && std::ranges::find(pieces, piece.text) == pieces.end())
        pieces.push_back(piece.text);
    }
  };
  const auto addTurn = [&add](const std::optional<TurnForm>& form) {
    if (!form) return;
    add(form->prefix);
    add(form->suffix);
  };
  add(chat.opening);
  addTurn(chat.openingSystem);
  for (const std::optional<TurnForm>& form : chat.turns) addTurn(form);
  add(chat.generationPrompt);
  add(chat.answerSuffix);
  return pieces;
}

std::string chatTemplateNames() {
  std::string names;
  for (const KnownChatTemplate& known : knownChatTemplates()) {
    names += (names.empty() ? "" : ", ") + known.chat.name;
  }
  return names;
}

const ChatTemplate* findChatTemplateNamed(std::string_view name) {
  const std::vector<const ChatTemplate*> all = chatTemplates();
  const auto found = std::ranges::find_if(all, [name](const auto* chat) { return chat->name == name; });
  return found == all.end() ? nullptr : *found;
}

const ChatTemplate& chatTemplateNamed(std::string_view name) {
  if (const ChatTemplate* chat = findChatTemplateNamed(name)) return *chat;
  throw Failure({"", "chat template", "the name \"" + toValidUtf8(name) + "\"",
                 "a known template: " + chatTemplateNames()});
}

bool isMissingTemplate(const Error& error) {
  return error.found == kNothing || error.found == "no such file";
}

TemplateSource templateSource(const checkpoint::Checkpoint& checkpoint) {
  TemplateSource found;
  readSource(checkpoint, [&found](TemplateSource source) { found = std::move(source); });
  return found;
}

FoundChatTemplate locateChatTemplate(const checkpoint::Checkpoint& checkpoint) {
  FoundChatTemplate found;
  readSource(checkpoint, [&](const TemplateSource& source) {
    const std::optional<FoundChatTemplate> known = matchChatTemplate(source.text);
    const bool isKnown = known && known->match == TemplateMatch::Fingerprint;
    found = isKnown ? *known : requireKnown(source, templateTokens(checkpoint));
  });
  return found;
}

const ChatTemplate& findChatTemplate(const checkpoint::Checkpoint& checkpoint) {
  return *locateChatTemplate(checkpoint).chat;
}

const ChatTemplate& programTemplate(const checkpoint::Checkpoint& checkpoint, const std::string& variables) {
  TemplateSource source;
  readSource(
      checkpoint, [&source](TemplateSource found) { source = std::move(found); }, namesTools(variables));
  try {
    return programTemplateOf(source.text, withVariables(templateTokens(checkpoint), variables));
  } catch (const Failure& failure) {
    throwAt(source, failure);
  }
}

namespace {

constexpr query::Role kRoles[] = {query::Role::System, query::Role::User, query::Role::Assistant};

/// The differences between the families: the text before the name of the role, after the name, and at the
/// end.
struct Marks {
  std::string name;
  std::string begin;
  std::vector<TemplatePiece> afterRole;
  std::string end;
  Trim trim = Trim::Nothing;
  std::vector<TemplatePiece> afterAnswerRole;  ///< in the generation prompt
};

ChatTemplate templateOf(const Marks& marks) {
  ChatTemplate chat;
  chat.name = marks.name;
  const auto opened = [&marks](const std::string& role, const std::vector<TemplatePiece>& after) {
    std::vector<TemplatePiece> pieces{{true, marks.begin}, {false, role}};
    pieces.insert(pieces.end(), after.begin(), after.end());
    return pieces;
  };
  for (const query::Role role : kRoles) {
    chat.turns[static_cast<std::size_t>(role)] =
        TurnForm{opened(query::roleName(role), marks.afterRole), {{true, marks.end}}, marks.trim};
  }
  chat.generationPrompt = opened("assistant", marks.afterAnswerRole);
  chat.answerSuffix = {{true, marks.end}};
  return chat;
}

std::vector<ChatTemplate> makeTemplates() {
  const TemplatePiece roleEnd{true, "<|end_of_role|>"};
  const TemplatePiece headerEnd{true, "<|end_header_id|>"};
  const TemplatePiece blankLine{false, "\n\n"};
  return {
      templateOf(
          {"spnl-granite", "<|start_of_role|>", {roleEnd}, "<|end_of_text|>", Trim::Nothing, {roleEnd}}),
      templateOf({"spnl-llama-3",
                  "<|start_header_id|>",
                  {headerEnd, blankLine},
                  "<|eot_id|>",
                  Trim::UnicodeBoth,
                  {headerEnd, blankLine}}),
      templateOf({"spnl-chatml", "<|im_start|>", {{false, "\n"}}, "<|im_end|>", Trim::Nothing, {}}),
  };
}

}  // namespace

const std::vector<ChatTemplate>& spnlChatTemplates() {
  static const std::vector<ChatTemplate> kTemplates = makeTemplates();
  return kTemplates;
}

}  // namespace spanscope::text
