// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/template_program.h"

#include "engine/base/json_text.h"
#include "engine/base/utf8.h"
#include "engine/text/program_templates.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

namespace spanscope::text {
namespace {

constexpr std::size_t kNone = std::string::npos;

/// Digits that templates do not write, with the number of a message between them. Upper and lower case are
/// equal.
constexpr std::string_view kMarkBegin = "7391846250:";
constexpr std::string_view kMarkEnd = ":0526481937";

std::string markOf(std::size_t message) {
  return std::string(kMarkBegin) + std::to_string(message) + std::string(kMarkEnd);
}

/// A text with marks: literal text, and the marks between.
struct MarkedText {
  struct Mark {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t message = 0;
  };
  std::string text;
  std::vector<Mark> marks;

  explicit MarkedText(std::string given) : text(std::move(given)) {
    for (std::size_t at = text.find(kMarkBegin); at != kNone; at = text.find(kMarkBegin, at + 1)) {
      Mark mark{.begin = at};
      const char* const digits = text.data() + at + kMarkBegin.size();
      const auto [end, error] = std::from_chars(digits, text.data() + text.size(), mark.message);
      mark.end = static_cast<std::size_t>(end - text.data());
      if (error != std::errc() || std::string_view(text).substr(mark.end, kMarkEnd.size()) != kMarkEnd)
        continue;
      mark.end += kMarkEnd.size();
      marks.push_back(mark);
    }
  }

  std::size_t endOf(std::ptrdiff_t mark) const {
    return mark < 0 ? 0 : marks[static_cast<std::size_t>(mark)].end;
  }
  std::size_t beginOf(std::size_t mark) const {
    return mark < marks.size() ? marks[mark].begin : text.size();
  }
  /// The text after the mark before `mark`, up to `mark`.
  std::string_view literalBefore(std::size_t mark) const {
    const std::size_t begin = endOf(static_cast<std::ptrdiff_t>(mark) - 1);
    return std::string_view(text).substr(begin, beginOf(mark) - begin);
  }
  std::string_view lastLiteral() const { return literalBefore(marks.size()); }
};

bool isBlank(std::string_view text) {
  return trimmed(text, Trim::Both).empty();
}

/// The ways in which templates often write a text. The whole text comes first.
std::vector<std::string_view> variantsOf(std::string_view text) {
  std::vector<std::string_view> variants = {text};
  const auto add = [&variants](std::string_view variant) {
    if (std::find(variants.begin(), variants.end(), variant) == variants.end()) variants.push_back(variant);
  };
  for (const Trim trim : {Trim::Both, Trim::End, Trim::Start, Trim::LinesBefore}) add(trimmed(text, trim));
  constexpr std::string_view kThoughtEnd = "</think>";
  if (const std::size_t end = text.rfind(kThoughtEnd); end != kNone) {
    const std::string_view answer = text.substr(end + kThoughtEnd.size());
    add(trimmed(answer, Trim::LinesBefore));
    add(trimmed(answer, Trim::Both));
  }
  return variants;
}

TextChange changeOf(std::string_view text, std::string_view written) {
  if (written == text) return TextChange::Nothing;
  if (written.empty() && !isBlank(text)) return TextChange::Omitted;
  return trimmed(written, Trim::Both) == trimmed(text, Trim::Both) ? TextChange::Trimmed
                                                                   : TextChange::Changed;
}

/// Finds the texts of messages in the whole text, by the literal text between marks. Returns nothing if the
/// whole text has other literal text.
std::optional<std::vector<OwnText>> align(const std::string& whole, const MarkedText& marked,
                                          std::span<const ConversationMessage> messages) {
  std::vector<OwnText> own;
  const std::string_view text = whole;
  if (!text.starts_with(marked.literalBefore(0))) return std::nullopt;
  std::size_t at = marked.literalBefore(0).size();
  if (marked.marks.empty() && at != text.size()) return std::nullopt;
  for (std::size_t i = 0; i < marked.marks.size(); ++i) {
    const std::size_t message = marked.marks[i].message;
    const std::string_view next = marked.literalBefore(i + 1);
    const bool isLast = i + 1 == marked.marks.size();
    const auto fits = [&](std::string_view variant) {
      const std::string_view rest = text.substr(at);
      return rest.starts_with(variant) && rest.substr(variant.size()).starts_with(next) &&
             (!isLast || variant.size() + next.size() == rest.size());
    };
    const std::vector<std::string_view> variants = variantsOf(messages[message].text);
    const auto found = std::find_if(variants.begin(), variants.end(), fits);
    std::size_t end = 0;
    if (found != variants.end()) {
      end = at + found->size();
    } else if (isLast) {
      if (text.size() < at + next.size() || !text.ends_with(next)) return std::nullopt;
      end = text.size() - next.size();
    } else {
      end = next.empty() ? kNone : text.find(next, at);
      if (end == kNone) return std::nullopt;
    }
    own.push_back({.range = {at, end}, .message = message});
    at = end + next.size();
  }
  return own;
}

std::size_t commonPrefix(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

std::size_t commonSuffix(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  return static_cast<std::size_t>(end - a.rbegin());
}

/// How many bytes of `literal` end a turn, if `rest` ends a whole conversation. Some templates write the end
/// of the text (`eos`) only there.
std::optional<std::size_t> turnEnd(std::string_view literal, std::string_view rest, std::string_view eos) {
  if (literal.starts_with(rest)) return rest.size();
  if (eos.empty() || !rest.ends_with(eos)) return std::nullopt;
  rest.remove_suffix(eos.size());
  return literal.starts_with(rest) ? std::optional(rest.size()) : std::nullopt;
}

std::string_view literalOf(const std::vector<TemplatePiece>& pieces) {
  return pieces.empty() ? std::string_view() : std::string_view(pieces.front().text);
}

std::vector<TemplatePiece> rawPieces(std::string_view text) {
  if (text.empty()) return {};
  return {TemplatePiece{.text = std::string(text), .isRaw = true}};
}

std::string textIn(const nlohmann::ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

TemplateMessage messageOf(const ConversationMessage& message, bool takesParts, const std::string& fields) {
  TemplateMessage made{.role = query::roleName(message.role), .content = {}, .fields = fields};
  if (!takesParts) {
    made.content = message.text;
    return made;
  }
  nlohmann::ordered_json json = {
      {"content", nlohmann::ordered_json::array({{{"type", "text"}, {"text", message.text}}})}};
  if (!fields.empty()) json.update(nlohmann::ordered_json::parse(fields));
  made.fields = compactJson(json);
  return made;
}

Error refusal(const Rendering& rendering, const std::string& place) {
  if (rendering.outcome == Rendering::Outcome::Raised) {
    return errorAt(place, "a message that the chat template refuses: " + rendering.text,
                   "a conversation that the template accepts, or another chat template");
  }
  return errorAt(place, "a chat template that fails: " + rendering.text, "another chat template");
}

}  // namespace

TemplateProgram::TemplateProgram(std::string source, const std::string& variables, TemplateProcess& process)
    : m_source(std::move(source)), m_process(process) {
  using Json = nlohmann::ordered_json;
  Json json = variables.empty() ? Json::object() : Json::parse(variables, nullptr, false);
  if (!json.is_object()) {
    throw Failure(errorAt(kVariablesPlace, "text that is not a JSON object",
                          "a JSON object, e.g. {\"enable_thinking\": false}"));
  }
  if (const auto found = json.find("messages"); found != json.end()) {
    for (const auto& [number, fields] : found->items()) {
      std::size_t message = 0;
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), message);
      if (error != std::errc() || end != number.data() + number.size() || !fields.is_object()) {
        throw Failure(errorAt(kVariablesPlace, "\"messages\" with the member \"" + number + "\"",
                              "an object with the fields of a message, by the number of the message"));
      }
      m_fields[message] = fields.dump();
    }
    json.erase("messages");
  }
  m_variables = json.dump();
  m_bos = textIn(json, "bos_token");
  m_eos = textIn(json, "eos_token");
  m_form = findForm();
}

TemplateProgram::Renderings TemplateProgram::request(std::span<const TemplateConversation> conversations,
                                                     const std::stop_token& stop) const {
  auto result = m_process.render(m_source, m_variables, conversations, stop);
  if (auto* error = std::get_if<Error>(&result)) throw Failure(std::move(*error));
  return std::get<Renderings>(std::move(result));
}

TemplateConversation TemplateProgram::conversationOf(std::span<const ConversationMessage> messages,
                                                     std::size_t count, bool generationPrompt) const {
  TemplateConversation conversation{.messages = {}, .generationPrompt = generationPrompt};
  for (std::size_t i = 0; i < count; ++i) {
    const auto fields = m_fields.find(i);
    conversation.messages.push_back(
        messageOf(messages[i], m_takesParts, fields == m_fields.end() ? "" : fields->second));
  }
  return conversation;
}

void TemplateProgram::refuse(std::span<const ConversationMessage> messages, const Rendering& whole,
                             bool generationPrompt, const std::stop_token& stop) const {
  // The first message after which the template gives the same error.
  constexpr std::size_t kMostRendered = 256;
  std::size_t message = messages.empty() ? 0 : messages.size() - 1;
  std::vector<TemplateConversation> beginnings;
  for (std::size_t i = 1; i < std::min(messages.size(), kMostRendered); ++i)
    beginnings.push_back(conversationOf(messages, i, generationPrompt));
  const Renderings renderings = beginnings.empty() ? Renderings() : request(beginnings, stop);
  for (std::size_t i = renderings.size(); i > 0; --i) {
    const Rendering& each = renderings[i - 1];
    if (each.outcome == whole.outcome && each.text == whole.text) message = i - 1;
  }
  throw MessageFailure(message, refusal(whole, "message " + std::to_string(message + 1)));
}

/// Finds where messages end, and the beginning and the end of the conversation.
class TemplateProgram::Bounds {
 public:
  Bounds(const TemplateProgram& program, std::span<const ConversationMessage> messages, bool generationPrompt,
         const std::stop_token& stop)
      : m_program(program), m_generationPrompt(generationPrompt), m_stop(stop) {
    for (const ConversationMessage& message : messages) m_texts.push_back(toValidUtf8(message.text));
    for (std::size_t i = 0; i < messages.size(); ++i) m_messages.push_back({messages[i].role, m_texts[i]});
    for (std::size_t i = 0; i < messages.size(); ++i)
      m_marks.push_back(isBlank(messages[i].text) ? std::string(messages[i].text) : markOf(i));
    for (std::size_t i = 0; i < messages.size(); ++i) m_marked.push_back({messages[i].role, m_marks[i]});
  }

  ConversationText find() {
    const std::size_t count = m_messages.size();
    const std::array conversations = {
        m_program.conversationOf(m_messages, count, m_generationPrompt),
        m_program.conversationOf(m_marked, count, m_generationPrompt),
        m_program.conversationOf(m_marked, count, false),
    };
    Renderings renderings = m_program.request(conversations, m_stop);
    if (!renderings[0].isText()) m_program.refuse(m_messages, renderings[0], m_generationPrompt, m_stop);
    m_text.text = std::move(renderings[0].text);
    std::optional<std::vector<OwnText>> own;
    if (renderings[1].isText()) {
      MarkedText marked(std::move(renderings[1].text));
      own = align(m_text.text, marked, m_messages);
    }
    m_text.own = own ? std::move(*own) : alignEach();
    findEnds(renderings[2]);
    return std::move(m_text);
  }

 private:
  /// Where a mark splits a text: in the middle, and near the end, because templates drop beginnings.
  static std::array<std::size_t, 2> splitsOf(std::string_view text) {
    std::array splits = {text.size() / 2, text.size() - std::min(text.size(), text.size() / 8 + 1)};
    for (std::size_t& split : splits) {
      while (split > 0 && isUtf8Continuation(text[split])) --split;
    }
    return splits;
  }

  /// Finds each text by renderings with a mark within this text: texts decide what the template writes.
  std::vector<OwnText> alignEach() {
    constexpr std::size_t kMostBytes = std::size_t{32} << 20U;
    const std::string mark = unusedCharacter();
    std::vector<TemplateConversation> conversations;
    std::vector<std::pair<std::size_t, std::size_t>> places;  // message, and split
    for (std::size_t i = 0; i < m_messages.size(); ++i) {
      if (isBlank(m_messages[i].text)) continue;
      for (const std::size_t split : splitsOf(m_texts[i])) {
        std::vector<ConversationMessage> some = m_messages;
        const std::string text = m_texts[i].substr(0, split) + mark + m_texts[i].substr(split);
        some[i].text = text;
        places.emplace_back(i, split);
        if (places.size() * m_text.text.size() > kMostBytes) {
          throw Failure(errorAt("chat template",
                                "The template changes the text around a message with the text of the "
                                "message. The conversation is too long for such a template.",
                                "Use a shorter conversation or another chat template."));
        }
        conversations.push_back(m_program.conversationOf(some, some.size(), m_generationPrompt));
      }
    }
    std::vector<OwnText> own;
    if (conversations.empty()) return own;
    const Renderings renderings = m_program.request(conversations, m_stop);
    for (std::size_t i = 0; i < renderings.size(); ++i) {
      const auto [message, split] = places[i];
      if (!own.empty() && own.back().message == message) continue;
      if (!renderings[i].isText()) continue;
      std::string rest = renderings[i].text;
      std::vector<std::size_t> found;
      for (std::size_t at = rest.find(mark); at != kNone; at = rest.find(mark, at)) {
        found.push_back(at);
        rest.erase(at, mark.size());
      }
      if (rest != m_text.text) continue;
      const std::string_view text = m_texts[message];
      for (const std::size_t at : found) {
        const std::size_t left = commonSuffix(between(0, at), text.substr(0, split));
        const std::size_t right = commonPrefix(between(at, rest.size()), text.substr(split));
        own.push_back({.range = {at - left, at + right}, .message = message});
      }
    }
    requireOmitted(own);
    std::sort(own.begin(), own.end(),
              [](const OwnText& a, const OwnText& b) { return a.range.begin < b.range.begin; });
    for (std::size_t i = 1; i < own.size(); ++i) {
      TextRange& range = own[i].range;
      range.begin = std::max(range.begin, own[i - 1].range.end);
      range.end = std::max(range.end, range.begin);
    }
    return own;
  }

  /// Returns a character for private use that the whole text does not have.
  std::string unusedCharacter() const {
    for (char32_t character = 0xE000; character < 0xF8FF; ++character) {
      std::string text;
      appendUtf8(text, character);
      if (m_text.text.find(text) == kNone) return text;
    }
    throw Failure(errorAt("chat template", "texts with every private-use character of Unicode",
                          "texts without at least one of these characters"));
  }

  /// A text that was not found must not be in the whole text, because delimiters in it would become control
  /// pieces.
  void requireOmitted(const std::vector<OwnText>& own) const {
    for (std::size_t i = 0; i < m_messages.size(); ++i) {
      const auto isOfMessage = [i](const OwnText& each) { return each.message == i; };
      const std::string_view text = trimmed(m_texts[i], Trim::Both);
      if (text.empty() || std::any_of(own.begin(), own.end(), isOfMessage)) continue;
      if (m_text.text.find(text) != kNone) {
        throw MessageFailure(i, errorAt("message " + std::to_string(i + 1),
                                        "a message whose place in the prompt cannot be found",
                                        "another text, or another chat template"));
      }
    }
  }

  std::string_view between(std::size_t begin, std::size_t end) const {
    return std::string_view(m_text.text).substr(begin, end - begin);
  }

  /// Looks at the order of the texts.
  void readOrder() {
    const std::size_t count = m_messages.size();
    m_last.assign(count, std::nullopt);
    m_isMoved.assign(count, false);
    for (const OwnText& own : m_text.own) m_last[own.message] = own.range;
    findMoved();
    m_ownEnds.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) m_ownEnds[i] = m_ownEnds[i - 1];
      if (m_last[i] && !m_isMoved[i]) m_ownEnds[i] = std::max(m_ownEnds[i], m_last[i]->end);
    }
  }

  std::string_view prefixOf(query::Role role) const {
    const auto& turn = m_program.m_form.turns.at(static_cast<std::size_t>(role));
    return turn ? literalOf(turn->prefix) : std::string_view();
  }

  /// Most texts are in the order of their messages: the longest such sequence. The others are moved.
  void findMoved() {
    std::vector<std::size_t> tails;                                     // the last of each length
    std::vector<std::optional<std::size_t>> before(m_messages.size());  // in its sequence
    for (const OwnText& own : m_text.own) {
      if (m_last[own.message] != own.range) continue;
      const auto place = std::lower_bound(tails.begin(), tails.end(), own.message);
      if (place != tails.begin()) before[own.message] = *(place - 1);
      if (place == tails.end())
        tails.push_back(own.message);
      else
        *place = own.message;
      m_isMoved[own.message] = true;
    }
    if (tails.empty()) return;
    for (std::optional<std::size_t> message = tails.back(); message; message = before[*message])
      m_isMoved[*message] = false;
  }

  /// The text of the template after the text of a message and before the next text. Blank messages have no
  /// text.
  std::string_view gapAfter(std::size_t message) const {
    const std::size_t begin = m_ownEnds[message];
    const auto next =
        std::lower_bound(m_text.own.begin(), m_text.own.end(), begin,
                         [](const OwnText& own, std::size_t at) { return own.range.begin < at; });
    return between(begin, next == m_text.own.end() ? m_text.text.size() : next->range.begin);
  }

  /// The text after the text of a message, and what the template may know about both messages.
  std::string keyOf(std::size_t message) const {
    // Blank messages before this one are in the same text of the template.
    std::size_t first = message;
    while (first > 0 && !m_last[first]) --first;
    std::string key = first == 0 ? "first " : "";
    for (std::size_t i = first; i < message + 2; ++i) {
      key += query::roleName(m_messages[i].role);
      if (isBlank(m_messages[i].text)) key += m_messages[i].text.empty() ? " empty" : " blank";
      key += m_last[i] ? ' ' : '-';
    }
    return key.append(gapAfter(message));
  }

  /// How many bytes of the text after the message's own text belong to the message, by the rendering of the
  /// conversation up to this message.
  std::optional<std::size_t> endIn(std::size_t message, const Rendering& beginning) const {
    if (!beginning.isText()) return std::nullopt;
    const MarkedText marked(beginning.text);
    const bool hasOwn = m_last[message].has_value();
    if (hasOwn && (marked.marks.empty() || marked.marks.back().message != message)) return std::nullopt;
    return turnEnd(gapAfter(message), marked.lastLiteral(), m_program.m_eos);
  }

  /// The same where the usual turn of the next message begins; otherwise directly after the text.
  std::size_t usualEnd(std::size_t message) const {
    const std::string_view prefix = prefixOf(m_messages[message + 1].role);
    const std::string_view gap = gapAfter(message);
    return !prefix.empty() && gap.ends_with(prefix) ? gap.size() - prefix.size() : 0;
  }

  void findEnds(const Rendering& all) {
    readOrder();
    const std::size_t last = m_messages.size() - 1;
    std::vector<std::string> keys;
    std::map<std::string, std::size_t> ends;
    for (std::size_t i = 0; i < last; ++i) keys.push_back(keyOf(i));
    std::map<std::string, std::size_t> missing;  // the first message with each key
    {
      const std::scoped_lock lock(m_program.m_mutex);
      for (std::size_t i = 0; i < last; ++i) {
        const auto found = m_program.m_ends.find(keys[i]);
        if (found != m_program.m_ends.end())
          ends.insert(*found);
        else
          missing.emplace(keys[i], i);
      }
    }
    std::vector<TemplateConversation> beginnings;
    for (const auto& [key, message] : missing)
      beginnings.push_back(m_program.conversationOf(m_marked, message + 1, false));
    const Renderings renderings = beginnings.empty() ? Renderings() : m_program.request(beginnings, m_stop);
    std::size_t next = 0;
    for (const auto& [key, message] : missing)
      ends[key] = endIn(message, renderings[next++]).value_or(usualEnd(message));
    std::vector<std::size_t> byMessage;
    for (const std::string& key : keys) byMessage.push_back(ends[key]);
    byMessage.push_back(lastEnd(all));
    putRanges(byMessage);
    const std::scoped_lock lock(m_program.m_mutex);
    constexpr std::size_t kMostKept = 4096;
    if (m_program.m_ends.size() > kMostKept) m_program.m_ends.clear();
    m_program.m_ends.merge(ends);
  }

  /// Where the generation prompt begins after the last text.
  std::size_t lastEnd(const Rendering& all) const {
    const std::size_t last = m_messages.size() - 1;
    const std::string_view gap = gapAfter(last);
    if (!m_generationPrompt) return gap.size();
    if (const auto end = endIn(last, all)) return *end;
    const std::string_view prompt = literalOf(m_program.m_form.generationPrompt);
    return gap.ends_with(prompt) ? gap.size() - prompt.size() : gap.size();
  }

  void putRanges(const std::vector<std::size_t>& ends) {
    m_text.messages.assign(m_messages.size(), {});
    m_text.openingEnd = openingEnd();
    std::size_t at = m_text.openingEnd;
    for (std::size_t i = 0; i < m_messages.size(); ++i) {
      MessageText& message = m_text.messages[i];
      const std::size_t end = m_isMoved[i] ? at : std::max(at, m_ownEnds[i] + ends[i]);
      message.range = {at, std::min(end, m_text.text.size())};
      message.change = changeOfMessage(i, ends[i]);
      at = message.range.end;
    }
    m_text.promptBegin = at;
  }

  TextChange changeOfMessage(std::size_t message, std::size_t end) const {
    const std::string_view text = m_messages[message].text;
    const std::optional<TextRange>& own = m_last[message];
    if (!own) return isBlank(text) ? TextChange::Nothing : TextChange::Omitted;
    const TextChange change = changeOf(text, between(own->begin, own->end));
    if (change == TextChange::Omitted || change == TextChange::Changed) return change;
    if (m_isMoved[message]) return TextChange::Merged;
    if (message + 1 == m_messages.size() || end > 0) return change;
    // The turn does not end, and no usual turn begins.
    const std::string_view prefix = prefixOf(m_messages[message + 1].role);
    const bool begins = !prefix.empty() && gapAfter(message).find(prefix) != kNone;
    return begins ? change : TextChange::Merged;
  }

  /// The text that belongs to no message: the text before the usual turn of the first message.
  std::size_t openingEnd() const {
    const ChatTemplate& form = m_program.m_form;
    const std::string_view opening = literalOf(form.opening);
    const std::string_view before = between(0, m_last[0] ? m_last[0]->begin : m_text.text.size());
    const std::string_view prefix = prefixOf(m_messages.front().role);
    const bool isSystem = m_messages.front().role == query::Role::System;
    if (m_last[0] && !isSystem && !prefix.empty() && before.ends_with(prefix))
      return before.size() - prefix.size();
    return before.starts_with(opening) ? opening.size() : 0;
  }

  const TemplateProgram& m_program;
  std::vector<std::string> m_texts;
  std::vector<ConversationMessage> m_messages;
  bool m_generationPrompt;
  std::stop_token m_stop;
  std::vector<std::string> m_marks;
  std::vector<ConversationMessage> m_marked;
  ConversationText m_text;
  std::vector<std::optional<TextRange>> m_last;  ///< by message: its last text
  std::vector<bool> m_isMoved;                   ///< by message: it comes after the text of a later message
  std::vector<std::size_t> m_ownEnds;  ///< by message: the end of its text, or of the text before it
};

namespace {

using query::Role;

/// A rendering of marks, of a conversation with these roles.
struct Probe {
  std::vector<Role> roles;
  bool generationPrompt = false;
};

enum ProbeName : std::size_t { kUser, kPrompt, kAnswered, kAgain, kSystem, kSystemAlone };

const std::vector<Probe>& probes() {
  static const std::vector<Probe> kProbes = {
      {{Role::User}},
      {{Role::User}, true},
      {{Role::User, Role::Assistant}},
      {{Role::User, Role::Assistant, Role::User}},
      {{Role::System, Role::User}},
      {{Role::System}},
  };
  return kProbes;
}

/// Whether the marks are those of all messages, in order.
bool hasAll(const std::optional<MarkedText>& probe, std::size_t messages) {
  if (!probe || probe->marks.size() != messages) return false;
  for (std::size_t i = 0; i < messages; ++i) {
    if (probe->marks[i].message != i) return false;
  }
  return true;
}

std::string_view without(std::string_view text, std::string_view beginning) {
  if (text.starts_with(beginning)) text.remove_prefix(beginning.size());
  return text;
}

}  // namespace

ChatTemplate TemplateProgram::findForm() {
  std::vector<std::optional<MarkedText>> texts;
  for (const bool takesParts : {false, true}) {
    std::vector<TemplateConversation> conversations;
    for (const Probe& probe : probes()) {
      TemplateConversation conversation{.messages = {}, .generationPrompt = probe.generationPrompt};
      for (std::size_t i = 0; i < probe.roles.size(); ++i) {
        const std::string mark = markOf(i);
        conversation.messages.push_back(messageOf({probe.roles[i], mark}, takesParts, {}));
      }
      conversations.push_back(std::move(conversation));
    }
    const Renderings renderings = request(conversations, {});
    texts.clear();
    for (const Rendering& each : renderings)
      texts.push_back(each.isText() ? std::optional(MarkedText(each.text)) : std::nullopt);
    m_takesParts = takesParts;
    if (texts[kPrompt] && !texts[kPrompt]->marks.empty()) break;
    if (!takesParts) continue;
    if (!texts[kPrompt]) throw Failure(refusal(renderings[kPrompt], "chat template"));
    throw Failure(errorAt("chat template", "a chat template that does not write the message of the user",
                          "another chat template"));
  }

  ChatTemplate form;
  form.name = std::string(kProgramName);
  const auto put = [&form](Role role, std::string_view prefix, std::string_view suffix) {
    form.turns.at(static_cast<std::size_t>(role)) = TurnForm{rawPieces(prefix), rawPieces(suffix)};
  };
  // How many bytes of a literal end the turn before it, by the conversation that ends there.
  const auto endIn = [&](std::string_view literal, ProbeName alone) {
    const std::optional<MarkedText>& probe = texts[alone];
    if (!hasAll(probe, probes()[alone].roles.size())) return std::optional<std::size_t>();
    return turnEnd(literal, probe->lastLiteral(), m_eos);
  };
  const std::string_view beforeFirst = texts[kPrompt]->literalBefore(0);
  const std::string_view afterUser = texts[kPrompt]->lastLiteral();
  std::string_view userPrefix = beforeFirst;
  std::string_view userSuffix = afterUser.substr(0, endIn(afterUser, kUser).value_or(0));
  form.generationPrompt = rawPieces(afterUser.substr(userSuffix.size()));
  if (hasAll(texts[kAgain], 3)) {
    const std::string_view toAnswer = texts[kAgain]->literalBefore(1);
    const std::string_view toUser = texts[kAgain]->literalBefore(2);
    const std::string_view answerSuffix = toUser.substr(0, endIn(toUser, kAnswered).value_or(0));
    userPrefix = toUser.substr(answerSuffix.size());
    const std::string_view answerPrefix = toAnswer.substr(endIn(toAnswer, kUser).value_or(0));
    put(Role::Assistant, answerPrefix, answerSuffix);
    form.answerSuffix = rawPieces(answerSuffix);
    const std::string_view prompt = literalOf(form.generationPrompt);
    if (answerPrefix.starts_with(prompt)) form.answerLeading = std::string(without(answerPrefix, prompt));
  }
  put(Role::User, userPrefix, userSuffix);
  const bool isUsual = beforeFirst.ends_with(userPrefix);
  std::string_view opening = isUsual ? beforeFirst.substr(0, beforeFirst.size() - userPrefix.size()) : "";
  if (hasAll(texts[kSystem], 2)) {
    const std::string_view toUser = texts[kSystem]->literalBefore(1);
    const std::string_view begin = texts[kSystem]->literalBefore(0);
    // The token that begins every text is not part of a system message. An own system message of the template
    // is no opening.
    const bool begins =
        opening.starts_with(m_bos) && begin.starts_with(m_bos) && !userPrefix.starts_with(m_bos);
    opening = begins ? opening.substr(0, m_bos.size()) : "";
    std::optional<std::size_t> end = endIn(toUser, kSystemAlone);
    if (!end && toUser.ends_with(userPrefix)) end = toUser.size() - userPrefix.size();
    put(Role::System, without(begin, opening), toUser.substr(0, end.value_or(0)));
  }
  form.opening = rawPieces(opening);
  return form;
}

ConversationText TemplateProgram::render(std::span<const ConversationMessage> messages, bool generationPrompt,
                                         const std::stop_token& stop) const {
  if (messages.empty())
    throw Failure(errorAt("chat template", "a conversation without messages", "at least one message"));
  return Bounds(*this, messages, generationPrompt, stop).find();
}

}  // namespace spanscope::text
