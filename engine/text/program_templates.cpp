// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/program_templates.h"

#include "engine/base/error.h"
#include "engine/base/json_text.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/text/chat_template_table.h"
#include "engine/text/conversation.h"
#include "engine/text/template_program.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace spanscope::text {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::vector<ConversationMessage>>& comparedConversations() {
  using query::Role;
  static const std::vector<std::vector<ConversationMessage>> kConversations = {
      {{Role::User, "Hello"}},
      {{Role::User, "  A question\n"}, {Role::Assistant, "\n An answer  "}, {Role::User, "\tAnother "}},
      {{Role::System, "Rules"}, {Role::User, "Hello"}},
      {{Role::System, " Rules\n"},
       {Role::User, "One"},
       {Role::Assistant, "Two"},
       {Role::User, "Three"},
       {Role::Assistant, " Four\n"},
       {Role::User, "Five"}},
      {{Role::System, ""}, {Role::User, ""}},
      {{Role::User, "One"}, {Role::User, "Two"}},
      {{Role::User, "One"}, {Role::System, "Two"}, {Role::User, "Three"}},
  };
  return kConversations;
}

/// The text, or nothing if the template refuses the conversation.
std::optional<std::string> textOf(const ChatTemplate& chat,
                                  const std::vector<ConversationMessage>& messages) {
  try {
    return spellConversation(chat, messages);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

const ChatTemplate* findEntryLike(const ChatTemplate& chat) {
  std::vector<std::optional<std::string>> texts;
  for (const auto& messages : comparedConversations()) texts.push_back(textOf(chat, messages));
  if (!texts[0] || !texts[1]) return nullptr;
  const KnownChatTemplate* best = nullptr;
  for (const KnownChatTemplate& known : knownChatTemplates()) {
    // Entries that are chosen by name write the same as others in part.
    if (known.fingerprints.empty() && known.markers.empty()) continue;
    // Of equal entries, the one with the fewest delimiters has the most general name.
    if (best != nullptr && best->markers.size() <= known.markers.size()) continue;
    bool isLike = true;
    for (std::size_t i = 0; i < texts.size() && isLike; ++i) {
      // An entry may also write what the template refuses, e.g. two turns of the user.
      if (texts[i]) isLike = textOf(known.chat, comparedConversations()[i]) == texts[i];
    }
    if (isLike) best = &known;
  }
  return best == nullptr ? nullptr : &best->chat;
}

/// Templates by source and variables, or the reason why there is none.
class ProgramTemplates {
 public:
  const ChatTemplate& get(const std::string& source, const std::string& variables) {
    const std::scoped_lock lock(m_mutex);
    const auto key = std::pair(source, variables);
    if (const auto found = m_templates.find(key); found != m_templates.end()) return *found->second;
    if (const auto found = m_failures.find(key); found != m_failures.end()) throw Failure(found->second);
    try {
      auto program = std::make_shared<const TemplateProgram>(source, variables, sharedTemplateProcess());
      auto chat = std::make_unique<ChatTemplate>(program->form());
      chat->program = std::move(program);
      return *m_templates.emplace(key, std::move(chat)).first->second;
    } catch (const Failure& failure) {
      // The package may be installed later.
      if (!sharedTemplateProcess().isMissing()) m_failures.emplace(key, failure.error());
      throw;
    }
  }

  const ChatTemplate* entryLike(const ChatTemplate& chat) {
    const std::scoped_lock lock(m_mutex);
    if (const auto found = m_entries.find(&chat); found != m_entries.end()) return found->second;
    const ChatTemplate* entry = findEntryLike(chat);
    m_entries.emplace(&chat, entry);
    return entry;
  }

 private:
  using Key = std::pair<std::string, std::string>;
  std::mutex m_mutex;
  std::map<Key, std::unique_ptr<const ChatTemplate>> m_templates;
  std::map<Key, Error> m_failures;
  std::map<const ChatTemplate*, const ChatTemplate*> m_entries;  ///< null: there is no entry
};

ProgramTemplates& templates() {
  static ProgramTemplates kept;
  return kept;
}

void putTokens(const checkpoint::JsonPlace& root, Json& tokens) {
  if (!root.value().is_object()) return;
  for (const auto& [name, value] : root.value().items()) {
    if (!name.ends_with("_token")) continue;
    const auto& text = value.is_object() && value.contains("content") ? value["content"] : value;
    if (text.is_string()) tokens[name] = text.template get<std::string>();
  }
}

void putGgufTokens(const checkpoint::GgufMetadata& metadata, Json& tokens) {
  const std::vector<std::string>* pieces = metadata.texts("tokenizer.ggml.tokens");
  if (pieces == nullptr) return;
  for (const auto& [name, key] : {std::pair{"bos_token", "tokenizer.ggml.bos_token_id"},
                                  {"eos_token", "tokenizer.ggml.eos_token_id"},
                                  {"unk_token", "tokenizer.ggml.unknown_token_id"},
                                  {"pad_token", "tokenizer.ggml.padding_token_id"}}) {
    const std::int64_t* id = metadata.integer(key);
    if (id != nullptr && *id >= 0 && static_cast<std::size_t>(*id) < pieces->size())
      tokens[name] = (*pieces)[static_cast<std::size_t>(*id)];
  }
}

}  // namespace

const ChatTemplate& programTemplateOf(const std::string& source, const std::string& variables) {
  return templates().get(source, variables);
}

const ChatTemplate* entryLike(const ChatTemplate& chat) {
  return templates().entryLike(chat);
}

std::string templateTokens(const checkpoint::Checkpoint& checkpoint) {
  Json tokens = Json::object();
  bool isConfigured = false;
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
    const std::optional<std::filesystem::path> path = checkpoint.find(name);
    if (!path) continue;
    isConfigured = true;
    checkpoint::readJsonFile(*path, checkpoint::kMaxTokenizerConfigBytes, "the configuration of a tokenizer",
                             [&](const checkpoint::JsonPlace& root) { putTokens(root, tokens); });
  }
  if (const auto gguf = checkpoint.anyGguf(); gguf && !isConfigured)
    putGgufTokens(checkpoint::GgufMetadata::read(*gguf), tokens);
  return compactJson(tokens);
}

std::string withVariables(const std::string& tokens, const std::string& variables) {
  if (variables.empty()) return tokens;
  Json all = Json::parse(tokens);
  const Json given = Json::parse(variables, nullptr, false);
  if (!given.is_object()) return variables;
  all.update(given);
  return compactJson(all);
}

}  // namespace spanscope::text
