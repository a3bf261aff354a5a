// SPDX-License-Identifier: GPL-3.0-or-later
// The estimate, and the tokens of a model.
#include "engine/doctor/prompt_tokens.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/json_text.h"
#include "engine/base/utf8.h"
#include "engine/text/conversation.h"
#include "engine/text/piece_renderer.h"
#include "engine/text/program_templates.h"
#include "engine/text/template_process.h"
#include "engine/text/tokenizer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace spanscope::doctor {
namespace {

using Json = nlohmann::ordered_json;

TokenId idOf(std::string_view piece) {
  return static_cast<TokenId>(hash64(piece) & 0x7FFFFFFFU);
}

/// A token that the estimate adds for a role or a border. Texts of messages never give it.
TokenId markId(std::string_view name) {
  return static_cast<TokenId>(mixBits(hash64(name)) & 0x7FFFFFFFU);
}

/// Takes the tokens of an estimate, and their texts if they are wanted.
struct EstimatedTokens {
  std::vector<TokenId>& ids;
  std::vector<std::string>* texts = nullptr;

  void piece(std::string_view text) {
    ids.push_back(idOf(text));
    if (texts != nullptr) texts->emplace_back(text);
  }
  void mark(std::string_view name) {
    ids.push_back(markId(name));
    if (texts != nullptr) texts->push_back("‹" + std::string(name) + "›");
  }
};

enum class Kind { Letter, Digit, Space, Other };

Kind kindOf(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const unsigned small = byte | 0x20U;
  if (byte >= 0x80U || (small >= 'a' && small <= 'z')) return Kind::Letter;
  if (byte >= '0' && byte <= '9') return Kind::Digit;
  return byte <= ' ' ? Kind::Space : Kind::Other;
}

/// Images have no text. This many tokens are counted for each.
constexpr std::size_t kImageTokens = 256;

void estimateText(std::string_view text, EstimatedTokens& into) {
  constexpr std::size_t kMostLetters = 8;
  constexpr std::size_t kMostDigits = 3;
  constexpr std::size_t kMostOther = 2;
  constexpr std::size_t kMostSpace = 16;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = at;
    // A space belongs to the word after it.
    if (text[at] == ' ' && at + 1 < text.size() && kindOf(text[at + 1]) != Kind::Space) ++at;
    const Kind kind = kindOf(text[at]);
    const std::size_t most = kind == Kind::Letter  ? kMostLetters
                             : kind == Kind::Digit ? kMostDigits
                             : kind == Kind::Space ? kMostSpace
                                                   : kMostOther;
    const std::size_t first = at;
    while (at < text.size() && at - first < most && kindOf(text[at]) == kind &&
           !(kind == Kind::Space && at > first && text[at] == ' ' && at + 1 < text.size() &&
             kindOf(text[at + 1]) != Kind::Space))
      ++at;
    while (at < text.size() && isUtf8Continuation(text[at])) ++at;
    into.piece(text.substr(begin, at - begin));
  }
}

void estimateMessage(const Message& message, EstimatedTokens& into) {
  for (const Part& part : message.parts) {
    switch (part.kind) {
      case Part::Kind::Image:
        for (std::size_t i = 0; i < kImageTokens; ++i) into.piece(part.text + std::to_string(i));
        continue;
      case Part::Kind::Reasoning:
        into.mark("reasoning");
        break;
      case Part::Kind::ToolCall:
        into.mark("call");
        estimateText(part.name, into);
        break;
      default:
        break;
    }
    estimateText(part.text, into);
    if (part.kind == Part::Kind::Reasoning) into.mark("end of reasoning");
  }
}

class Estimate final : public PromptTokenizer {
 public:
  PromptTokens tokens(const LoggedRequest& request, const std::stop_token& /*stop*/) const override {
    return estimate(request, nullptr);
  }
  std::vector<std::string> pieces(const LoggedRequest& request,
                                  const PromptTokens& /*tokens*/) const override {
    std::vector<std::string> texts;
    for (const TokenId id : request.ids) texts.push_back("‹" + std::to_string(id) + "›");
    texts.resize(estimate(request, &texts).prompt);
    return texts;
  }
  std::string setting() const override {
    return "estimated from the length of the text, about 4 bytes per token";
  }
  bool isEstimated() const override { return true; }

 private:
  static PromptTokens estimate(const LoggedRequest& request, std::vector<std::string>* texts) {
    PromptTokens made{.ids = request.ids, .prompt = 0, .sections = {}, .isEstimated = request.ids.empty()};
    EstimatedTokens into{.ids = made.ids, .texts = texts};
    std::size_t begin = 0;
    const auto end = [&](std::int32_t section) {
      if (made.ids.size() > begin) made.sections.push_back({section, begin, made.ids.size()});
      begin = made.ids.size();
    };
    end(0);
    if (!request.tools.empty()) {
      into.mark("tools");
      for (const Tool& tool : request.tools) {
        estimateText(tool.text, into);
        into.mark("end of tool");
      }
      end(kToolsSection);
    }
    bool isRaw = !request.ids.empty();
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
      const Message& message = request.messages[i];
      isRaw = message.role == kRawRole;
      if (!isRaw) into.mark("role " + message.writtenRole());
      estimateMessage(message, into);
      if (!isRaw) into.mark("end of message");
      end(static_cast<std::int32_t>(i));
    }
    if (!isRaw) {
      into.mark("role assistant");
      end(kEndSection);
    }
    made.prompt = made.ids.size();
    if (request.answer) estimateMessage(*request.answer, into);
    return made;
  }
};

// --- A model

std::optional<query::Role> plainRole(const std::string& role) {
  if (role == "system") return query::Role::System;
  if (role == "user") return query::Role::User;
  if (role == "assistant") return query::Role::Assistant;
  return {};
}

bool isPlain(const Message& message) {
  return plainRole(message.role).has_value() &&
         std::ranges::all_of(message.parts, [](const Part& part) { return part.kind == Part::Kind::Text; });
}

/// A message as templates read it: calls as objects, as servers give them to templates.
text::TemplateMessage templateMessage(const Message& message) {
  text::TemplateMessage made{.role = message.role == kRawRole ? "user" : message.role, .content = {}};
  Json fields = Json::object();
  for (const Part& part : message.parts) {
    if (part.kind == Part::Kind::Reasoning) {
      fields["reasoning_content"] = part.text;
    } else if (part.kind == Part::Kind::ToolCall) {
      Json arguments = Json::parse(part.text, nullptr, false);
      if (arguments.is_discarded()) arguments = part.text;
      fields["tool_calls"].push_back(
          {{"type", "function"}, {"function", {{"name", part.name}, {"arguments", std::move(arguments)}}}});
    } else if (part.kind == Part::Kind::Image) {
      made.content += "[image " + part.text + "]";
    } else {
      made.content += part.text;
    }
  }
  if (!fields.empty()) made.fields = compactJson(fields);
  return made;
}

class ModelTokenizer final : public PromptTokenizer {
 public:
  explicit ModelTokenizer(const checkpoint::Checkpoint& checkpoint)
      : m_tokenizer(text::loadTokenizer(checkpoint)),
        m_controls(*m_tokenizer),
        m_chat(text::locateChatTemplate(checkpoint).chat),
        m_variables(text::templateTokens(checkpoint)) {
    try {
      m_source = text::templateSource(checkpoint).text;
    } catch (const Failure&) {
      m_source.clear();  // the table has the turns
    }
  }

  PromptTokens tokens(const LoggedRequest& request, const std::stop_token& stop) const override {
    PromptTokens made;
    if (!request.ids.empty()) {
      made.ids = request.ids;
      made.sections.push_back({0, 0, made.ids.size()});
    } else if (!request.messages.empty() && request.messages.front().role == kRawRole) {
      made.ids = m_tokenizer->encode(messageText(request.messages.front()), {.stop = stop});
      made.sections.push_back({0, 0, made.ids.size()});
    } else if (m_chat->program == nullptr && request.tools.empty() &&
               (m_source.empty() || std::ranges::all_of(request.messages, isPlain))) {
      renderPlain(request, made, stop);
    } else {
      renderTemplate(request, made, stop);
    }
    made.prompt = made.ids.size();
    if (request.answer) {
      std::string answer = m_chat->answerLeading;
      for (const Part& part : request.answer->parts) answer += part.text;
      append(made.ids, *encoded(answer, stop));
    }
    return made;
  }

  std::string setting() const override {
    return m_tokenizer->source() + ", chat template " +
           (m_chat->program == nullptr ? m_chat->name : "by Jinja");
  }
  bool isEstimated() const override { return false; }
  std::vector<std::string> pieces(const LoggedRequest& /*request*/,
                                  const PromptTokens& tokens) const override {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < tokens.prompt; ++i) {
      const TokenId id = tokens.ids[i];
      // A log can have ids of another model.
      const bool isKnown = id >= 0 && id < m_tokenizer->vocabularySize();
      texts.push_back(!isKnown                     ? "‹" + std::to_string(id) + "›"
                      : m_tokenizer->isControl(id) ? m_tokenizer->display(id)
                                                   : m_tokenizer->bytes(id));
    }
    return texts;
  }

 private:
  using Ids = std::vector<TokenId>;
  static constexpr std::size_t kMostKept = std::size_t{8} << 20U;  // tokens of kept messages

  static void append(Ids& all, const Ids& more) { all.insert(all.end(), more.begin(), more.end()); }

  /// Messages occur in many requests, so their ids are kept.
  template <class Make>
  std::shared_ptr<const Ids> kept(const std::string& key, const Make& make) const {
    const std::string name = hash128(key).hex();
    {
      const std::lock_guard lock(m_mutex);
      if (const auto found = m_kept.find(name); found != m_kept.end()) return found->second;
    }
    auto ids = std::make_shared<const Ids>(make());
    const std::lock_guard lock(m_mutex);
    m_keptTokens += ids->size() + 16;
    if (m_keptTokens > kMostKept) {
      m_kept.clear();
      m_keptTokens = ids->size();
    }
    m_kept[name] = ids;
    return ids;
  }
  std::shared_ptr<const Ids> encoded(const std::string& text, const std::stop_token& stop) const {
    return kept("\x01" + text, [&] { return m_tokenizer->encode(text, {.stop = stop}); });
  }

  void renderPlain(const LoggedRequest& request, PromptTokens& made, const std::stop_token& stop) const {
    for (const Message& message : request.messages) {
      const bool isKnown =
          message.role.empty() || message.role == "tool" || plainRole(message.role).has_value();
      if (!isKnown)
        throw Failure(errorAt("role", '"' + message.role + '"', "system, user, assistant or tool"));
    }
    const bool hasSystem = request.messages.front().role == "system";
    made.ids = text::renderOpening(*m_chat, *m_tokenizer, hasSystem);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
      const Message& message = request.messages[i];
      const query::Role role = plainRole(message.role).value_or(query::Role::User);
      const std::string text = messageText(message);
      const text::Place place = i == 0 ? text::Place::First : text::Place::Later;
      append(made.ids, *kept(std::string(i == 0 ? "f" : "l") + message.role + "\n" + text, [&] {
               return text::render(*m_chat, *m_tokenizer, role, text, place, {.stop = stop}).ids;
             }));
      made.sections.push_back({static_cast<std::int32_t>(i), begin, made.ids.size()});
      begin = made.ids.size();
    }
    append(made.ids, text::renderPieces(m_chat->generationPrompt, *m_tokenizer));
    if (made.ids.size() > begin) made.sections.push_back({kEndSection, begin, made.ids.size()});
  }

  void renderTemplate(const LoggedRequest& request, PromptTokens& made, const std::stop_token& stop) const {
    text::TemplateConversation conversation;
    for (const Message& message : request.messages) conversation.messages.push_back(templateMessage(message));
    Json variables = m_variables.empty() ? Json::object() : Json::parse(m_variables, nullptr, false);
    if (!variables.is_object()) variables = Json::object();
    for (const Tool& tool : request.tools) {
      Json function = Json::parse(tool.text, nullptr, false);
      if (!function.is_discarded())
        variables["tools"].push_back({{"type", "function"}, {"function", std::move(function)}});
    }
    auto rendered =
        text::sharedTemplateProcess().render(m_source, compactJson(variables), {&conversation, 1}, stop);
    if (const Error* error = std::get_if<Error>(&rendered)) throw Failure(*error);
    const text::Rendering& first = std::get<0>(rendered).front();
    if (!first.isText())
      throw Failure(errorAt("chat template", "a conversation that the template cannot render",
                            "a conversation that the template can render"));
    encodeWhole(request, conversation, first.text, made, stop);
  }

  /// Servers encode the whole text, and control pieces in it are control pieces. Sections are found by the
  /// texts of the messages.
  void encodeWhole(const LoggedRequest& request, const text::TemplateConversation& conversation,
                   std::string_view text, PromptTokens& made, const std::stop_token& stop) const {
    std::vector<std::pair<std::size_t, std::int32_t>> ends;  // of texts of sections
    std::size_t at = 0;
    if (!request.tools.empty()) {
      std::size_t end = 0;
      for (const Tool& tool : request.tools)
        if (const std::size_t place = text.find("\"" + tool.name + "\""); place != std::string_view::npos)
          end = std::max(end, place);
      // Tools end where the text of the first message begins, or after the last name.
      if (end > 0) ends.emplace_back(end, kToolsSection);
    }
    std::size_t toolsEnd = ends.empty() ? 0 : ends.front().first;
    for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
      const std::string_view content = trimmed(conversation.messages[i].content);
      if (content.empty()) continue;
      const std::size_t place = text.find(content, at);
      if (place == std::string_view::npos) continue;
      at = place + content.size();
      // Some templates write tools after the system message.
      if (at > toolsEnd && !ends.empty() && ends.back().second == kToolsSection)
        ends.back().first = std::min(place, std::max(toolsEnd, place));
      ends.emplace_back(at, static_cast<std::int32_t>(i));
    }
    std::ranges::sort(ends);
    ends.emplace_back(text.size(), kEndSection);
    for (auto& [end, section] : ends) {
      // The delimiter after a message belongs to the message. It ends with the next control piece and a line
      // break.
      if (section < 0) continue;
      if (const auto next = m_controls.find(text.substr(end)); next && next->begin < 8)
        end += next->begin + next->length;
      if (end < text.size() && text[end] == '\n') ++end;
    }
    std::size_t place = 0;  // of the next token in the text
    std::size_t begin = 0;
    auto section = ends.begin();
    const auto add = [&](TokenId id, std::size_t bytes) {
      while (section->first <= place && section + 1 != ends.end()) {
        if (made.ids.size() > begin) made.sections.push_back({section->second, begin, made.ids.size()});
        begin = made.ids.size();
        ++section;
      }
      made.ids.push_back(id);
      place += bytes;
    };
    while (!text.empty()) {
      const auto control = m_controls.find(text);
      const std::string_view before = text.substr(0, control ? control->begin : text.size());
      const std::size_t next = place + before.size();
      if (!before.empty())
        for (const TokenId id : *encoded(std::string(before), stop)) add(id, m_tokenizer->bytes(id).size());
      place = next;  // a tokenizer can add a space
      if (!control) break;
      add(control->id, control->length);
      text.remove_prefix(control->begin + control->length);
    }
    if (made.ids.size() > begin) made.sections.push_back({section->second, begin, made.ids.size()});
  }

  std::unique_ptr<text::Tokenizer> m_tokenizer;
  text::ControlPieces m_controls;
  const text::ChatTemplate* m_chat;
  std::string m_variables;
  std::string m_source;
  mutable std::mutex m_mutex;
  mutable std::unordered_map<std::string, std::shared_ptr<const Ids>> m_kept;
  mutable std::size_t m_keptTokens = 0;
};

}  // namespace

std::int32_t PromptTokens::sectionAt(std::size_t token) const {
  const auto found =
      std::ranges::find_if(sections, [&](const SectionTokens& one) { return token < one.end; });
  return found == sections.end() ? kEndSection : found->section;
}

void estimateTokens(std::string_view text, std::vector<TokenId>& ids) {
  EstimatedTokens into{.ids = ids};
  estimateText(text, into);
}

std::unique_ptr<PromptTokenizer> makeEstimate() {
  return std::make_unique<Estimate>();
}

std::unique_ptr<PromptTokenizer> makeModelTokenizer(const checkpoint::Checkpoint& checkpoint) {
  return std::make_unique<ModelTokenizer>(checkpoint);
}

std::string messageText(const Message& message) {
  std::string text;
  for (const Part& part : message.parts) {
    if (part.kind == Part::Kind::ToolCall) text += "\n" + part.name + " ";
    if (part.kind == Part::Kind::Image) {
      text += "[image " + part.text + "]";
    } else {
      text += part.text;
    }
  }
  return text;
}

std::string sectionText(const LoggedRequest& request, std::int32_t section) {
  if (section == kToolsSection) {
    std::string text;
    for (const Tool& tool : request.tools) text += tool.text + "\n";
    return text;
  }
  if (section < 0 || static_cast<std::size_t>(section) >= request.messages.size()) return {};
  return messageText(request.messages[static_cast<std::size_t>(section)]);
}

std::string sectionName(const LoggedRequest& request, std::int32_t section) {
  if (section == kToolsSection) return "tools";
  if (section < 0 || static_cast<std::size_t>(section) >= request.messages.size()) return "end of the prompt";
  const std::string& role = request.messages[static_cast<std::size_t>(section)].role;
  if (section == 0 && role == "system") return "system message";
  return "message " + std::to_string(section + 1) + " (" + role + ")";
}

}  // namespace spanscope::doctor
