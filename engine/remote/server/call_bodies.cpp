// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/call_bodies.h"

#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/remote/server/answer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace spanscope::server {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostDepth = 64;          ///< nesting depth of containers
constexpr std::size_t kMostValues = 2'000'000;  ///< values of the whole body; each takes up to 80 bytes of
                                                ///< memory
constexpr std::size_t kMostMessages = 10'000;
constexpr std::size_t kMostPrompts = 256;

/// The body as a JSON object.
Json parsed(std::string_view body) {
  const auto isSmall = [values = std::size_t{0}](int depth, Json::parse_event_t event,
                                                 Json& /*value*/) mutable {
    using enum Json::parse_event_t;
    if (static_cast<std::size_t>(depth) > kMostDepth)
      refuseField({}, "The body is nested more than " + std::to_string(kMostDepth) + " deep.");
    if ((event == value || event == object_start || event == array_start) && ++values > kMostValues)
      refuseField({}, "The body has more than " + std::to_string(kMostValues) + " values.");
    return true;
  };
  Json json;
  try {
    json = Json::parse(body, isSmall);
  } catch (const Json::exception& error) {
    // The parser's message begins with a code of its library.
    std::string words = error.what();
    if (const std::size_t end = words.find("] "); end != std::string::npos) words.erase(0, end + 2);
    refuseField({}, "The body is not JSON: " + toValidUtf8(words));
  }
  if (!json.is_object()) refuseField({}, "The body must be a JSON object.");
  return json;
}

/// Reads the fields of one object. Null counts as absent.
class Fields {
 public:
  explicit Fields(const Json& json, std::string prefix = {}) : m_json(json), m_prefix(std::move(prefix)) {}

  const Json* find(const char* key) const {
    const auto found = m_json.find(key);
    return found == m_json.end() || found->is_null() ? nullptr : &*found;
  }
  std::string place(const char* key) const { return m_prefix + key; }

  bool flag(const char* key, bool standard = false) const {
    const Json* value = find(key);
    if (value == nullptr) return standard;
    if (!value->is_boolean()) mustBe(key, "true or false");
    return value->get<bool>();
  }
  std::string text(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) mustBe(key, "a text");
    return value->get<std::string>();
  }
  std::optional<std::int64_t> whole(const char* key, std::int64_t least, std::int64_t most) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    const std::string range = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    if (!value->is_number_integer()) mustBe(key, range);
    const bool isTooLarge =
        value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
    const auto number = isTooLarge ? std::numeric_limits<std::int64_t>::max() : value->get<std::int64_t>();
    if (isTooLarge || number < least || number > most) mustBe(key, range);
    return number;
  }
  std::optional<double> number(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number() || !std::isfinite(value->get<double>())) mustBe(key, "a number");
    return value->get<double>();
  }
  [[noreturn]] void mustBe(const char* key, const std::string& what) const {
    refuseField(place(key), "'" + place(key) + "' must be " + what + ".");
  }
  [[noreturn]] void unsupported(const char* key, const std::string& words) const {
    refuseField(place(key), words, "unsupported_parameter");
  }
  /// Refuses a field that has another value than this value. A field may be absent.
  void only(const char* key, const Json& value, const std::string& words) const {
    const Json* found = find(key);
    if (found != nullptr && *found != value) unsupported(key, words);
  }
  /// Refuses a field that has any value but null.
  void none(const char* key, const std::string& words) const {
    const Json* found = find(key);
    const bool isEmptyText =
        found != nullptr && found->is_string() && found->get_ref<const std::string&>().empty();
    if (found != nullptr && !found->empty() && !isEmptyText) unsupported(key, words);
  }
  /// A limit of tokens, at least 1. Nothing: no limit, for which some clients write −1.
  std::optional<std::int32_t> tokenLimit(const char* key) const {
    const Json* value = find(key);
    if (value != nullptr && value->is_number_integer() && *value == -1) return std::nullopt;
    const auto limit = whole(key, 1, std::numeric_limits<std::int32_t>::max());
    return limit ? std::optional(static_cast<std::int32_t>(*limit)) : std::nullopt;
  }

 private:
  const Json& m_json;
  std::string m_prefix;
};

void readStops(const Fields& fields, std::vector<std::string>& stops) {
  const Json* value = fields.find("stop");
  if (value == nullptr) return;
  const auto add = [&](const Json& one) {
    if (!one.is_string()) fields.mustBe("stop", "a text or a list of texts");
    stops.push_back(one.get<std::string>());
    if (stops.back().empty() || stops.back().size() > kMostStopBytes)
      fields.mustBe("stop",
                    "a text, or a list of texts, of 1 to " + std::to_string(kMostStopBytes) + " bytes");
  };
  if (value->is_array()) {
    if (value->size() > kMostStops) fields.mustBe("stop", "at most " + std::to_string(kMostStops) + " texts");
    for (const Json& one : *value) add(one);
  } else {
    add(*value);
  }
}

/// Refuses fields that would change the answer, for both kinds of completion.
void refuseUnsupported(const Fields& fields) {
  for (const char* key : {"frequency_penalty", "presence_penalty", "min_p"}) {
    const auto value = fields.number(key);
    if (value && *value != 0)
      fields.unsupported(key, std::string("This server does not change the probabilities of tokens by '") +
                                  key + "'. Leave out this field or give 0.");
  }
  if (const auto value = fields.number("repetition_penalty"); value && *value != 1)
    fields.unsupported("repetition_penalty",
                       "This server has no repetition penalty. Leave out this field or give 1.");
  fields.none("logit_bias", "This server has no 'logit_bias'.");
  fields.none("stop_token_ids", "This server ends answers at texts ('stop'), not at token ids.");
  if (fields.flag("include_stop_str_in_output"))
    fields.unsupported("include_stop_str_in_output", "Answers of this server end before a stop text.");
  fields.only("skip_special_tokens", true, "Answers of this server have no text of special tokens.");
  if (fields.find("truncate_prompt_tokens") != nullptr)
    fields.unsupported("truncate_prompt_tokens", "This server does not truncate prompts.");
  for (const char* key : {"bad_words", "allowed_token_ids"})
    fields.none(key, std::string("This server samples from all tokens and has no '") + key + "'.");
  if (fields.flag("use_beam_search"))
    fields.unsupported("use_beam_search", "This server has no beam search.");
  if (fields.find("prompt_logprobs") != nullptr)
    fields.unsupported("prompt_logprobs", "This server does not report probabilities of prompt tokens.");
  for (const char* key : {"guided_json", "guided_regex", "guided_choice", "guided_grammar",
                          "structured_outputs", "grammar", "json_schema"})
    if (fields.find(key) != nullptr)
      fields.unsupported(key, "This server does not support structured answers.");
}

CallSettings readSettings(const Fields& fields) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  CallSettings settings;
  settings.model = fields.text("model");
  settings.maxTokens = fields.tokenLimit("max_tokens");
  if (const auto most = fields.tokenLimit("max_completion_tokens")) settings.maxTokens = *most;
  if (const auto least = fields.whole("min_tokens", 0, settings.maxTokens.value_or(kMost)))
    settings.minTokens = static_cast<std::int32_t>(*least);
  settings.ignoresEnd = fields.flag("ignore_eos");
  if (const auto value = fields.number("temperature")) {
    if (*value < 0 || *value > 2) fields.mustBe("temperature", "a number from 0 to 2");
    settings.temperature = static_cast<float>(*value);
  }
  if (const auto value = fields.number("top_p")) {
    if (*value < 0 || *value > 1) fields.mustBe("top_p", "a number from 0 to 1");
    // The best token is always kept.
    settings.topP = std::max(static_cast<float>(*value), std::numeric_limits<float>::min());
  }
  // −1 switches top-k off in vLLM.
  if (const auto value = fields.whole("top_k", -1, kMost); value && *value > 0)
    settings.topK = static_cast<std::int32_t>(*value);
  if (const auto value = fields.whole("seed", std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()))
    settings.seed = static_cast<std::uint64_t>(*value);
  if (const auto value = fields.whole("n", 1, kMostReplies))
    settings.replies = static_cast<std::int32_t>(*value);
  readStops(fields, settings.stops);
  if (settings.replies > 1 && !settings.stops.empty())
    fields.unsupported("n", "This server gives several answers ('n') only without 'stop'.");
  settings.stream = fields.flag("stream");
  if (const Json* options = fields.find("stream_options")) {
    if (!options->is_object()) fields.mustBe("stream_options", "an object");
    if (!settings.stream) fields.mustBe("stream_options", "left out unless 'stream' is true");
    settings.includesUsage = Fields(*options, "stream_options.").flag("include_usage");
  }
  settings.cacheSalt = fields.text("cache_salt");
  refuseUnsupported(fields);
  return settings;
}

/// The text of a message: a text, or a list of parts that are texts.
std::string contentOf(const Fields& message) {
  const Json* content = message.find("content");
  if (content == nullptr) return {};
  if (content->is_string()) return content->get<std::string>();
  if (!content->is_array()) message.mustBe("content", "a text or a list of parts");
  std::string text;
  for (const Json& part : *content) {
    const bool isText = part.is_object() && part.value("type", Json()) == "text" && part.contains("text") &&
                        part["text"].is_string();
    if (!isText)
      message.unsupported("content", "This server reads text only: each part of '" +
                                         message.place("content") +
                                         "' must be {\"type\": \"text\", \"text\": …}.");
    if (!text.empty()) text += '\n';
    text += part["text"].get<std::string>();
  }
  return text;
}

std::vector<query::Message> readMessages(const Json& list) {
  if (!list.is_array() || list.empty())
    refuseField("messages", "'messages' must be a list of at least one message.");
  if (list.size() > kMostMessages)
    refuseField("messages", "'messages' must have at most " + std::to_string(kMostMessages) + " messages.");
  std::vector<query::Message> messages;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = "messages[" + std::to_string(i) + "]";
    if (!list[i].is_object()) refuseField(place, "'" + place + "' must be an object.");
    const Fields fields(list[i], place + ".");
    const std::string role = fields.text("role");
    query::Message message;
    if (role == "system" || role == "developer") {
      message.role = query::Role::System;
    } else if (role == "user") {
      message.role = query::Role::User;
    } else if (role == "assistant") {
      message.role = query::Role::Assistant;
    } else if (role == "tool" || role == "function") {
      fields.unsupported(
          "role", "This server calls no tools, so a conversation has no message of the role '" + role + "'.");
    } else {
      fields.mustBe("role", "system, developer, user or assistant");
    }
    fields.none("tool_calls", "This server calls no tools.");
    if (fields.find("content") == nullptr && message.role != query::Role::Assistant)
      fields.mustBe("content", "a text or a list of parts");
    message.text = contentOf(fields);
    messages.push_back(std::move(message));
  }
  return messages;
}

std::vector<TokenId> readIds(const Json& list, const char* param) {
  std::vector<TokenId> ids;
  for (const Json& id : list) {
    const bool fits =
        id.is_number_unsigned() &&
        id.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<TokenId>::max());
    if (!fits) refuseField(param, std::string("'") + param + "' must contain only token ids.");
    ids.push_back(id.get<TokenId>());
  }
  return ids;
}

void readPrompts(const Fields& fields, CompletionCall& call) {
  const Json* prompt = fields.find("prompt");
  constexpr const char* kForms = "a text, a list of texts, a list of token ids or a list of such lists";
  if (prompt == nullptr) fields.mustBe("prompt", kForms);
  if (prompt->is_string()) {
    call.prompts.push_back(prompt->get<std::string>());
    return;
  }
  if (!prompt->is_array() || prompt->empty()) fields.mustBe("prompt", kForms);
  if (prompt->front().is_number()) {
    call.tokens.push_back(readIds(*prompt, "prompt"));
    return;
  }
  if (prompt->size() > kMostPrompts) fields.mustBe("prompt", "at most " + counted(kMostPrompts, "prompt"));
  for (const Json& one : *prompt) {
    if (one.is_string() && call.tokens.empty()) {
      call.prompts.push_back(one.get<std::string>());
    } else if (one.is_array() && !one.empty() && call.prompts.empty()) {
      call.tokens.push_back(readIds(one, "prompt"));
    } else {
      fields.mustBe("prompt", kForms);
    }
  }
}

}  // namespace

ChatCall readChatCall(std::string_view body) {
  const Json json = parsed(body);
  const Fields fields(json);
  ChatCall call;
  fields.none("tools", "This server calls no tools. Leave out 'tools'.");
  fields.none("functions", "This server calls no functions. Leave out 'functions'.");
  fields.only("tool_choice", "none", "This server calls no tools. Leave out 'tool_choice'.");
  if (const Json* format = fields.find("response_format")) {
    const bool isText = format->is_object() && format->value("type", Json()) == "text";
    if (!isText)
      fields.unsupported(
          "response_format",
          "This server does not support structured answers. Only {\"type\": \"text\"} is possible.");
  }
  fields.only("modalities", Json::array({"text"}), "This server answers in text only.");
  fields.none("audio", "This server answers in text only.");
  fields.only("add_generation_prompt", true, "An answer of this server begins after a generation prompt.");
  fields.only("continue_final_message", false, "An answer of this server is a new message.");
  fields.none("chat_template", "This server uses the template of its model.");
  fields.none(
      "documents",
      "This server accepts documents in messages, or as the children of a plus at /v1/query/execute.");
  call.settings = readSettings(fields);
  call.settings.logprobs = fields.flag("logprobs");
  if (const auto others = fields.whole("top_logprobs", 0, kMostAlternatives)) {
    if (!call.settings.logprobs) fields.mustBe("top_logprobs", "left out unless 'logprobs' is true");
    call.settings.alternatives = static_cast<std::int32_t>(*others);
  }
  const Json* messages = fields.find("messages");
  if (messages == nullptr) fields.mustBe("messages", "a list of at least one message");
  call.messages = readMessages(*messages);
  return call;
}

CompletionCall readCompletionCall(std::string_view body) {
  const Json json = parsed(body);
  const Fields fields(json);
  CompletionCall call;
  call.settings = readSettings(fields);
  if (fields.flag("echo"))
    fields.unsupported("echo", "This server does not repeat the prompt in its answer.");
  fields.none("suffix", "This server continues a text and does not fill gaps ('suffix').");
  if (const auto best = fields.whole("best_of", 1, kMostReplies); best && *best != call.settings.replies)
    fields.unsupported("best_of",
                       "This server returns every answer that it generates, so 'best_of' must be 'n'.");
  if (const auto others = fields.whole("logprobs", 0, kMostAlternatives)) {
    call.settings.logprobs = true;
    call.settings.alternatives = static_cast<std::int32_t>(*others);
  }
  readPrompts(fields, call);
  return call;
}

TokenizeCall readTokenizeCall(std::string_view body) {
  const Json json = parsed(body);
  const Fields fields(json);
  TokenizeCall call;
  call.model = fields.text("model");
  call.tellsTexts = fields.flag("return_token_strs");
  call.addsSpecialTokens = fields.flag("add_special_tokens", true);
  call.addsGenerationPrompt = fields.flag("add_generation_prompt", true);
  if (fields.flag("continue_final_message"))
    fields.unsupported("continue_final_message", "An answer of this server is a new message.");
  fields.none("tools", "This server calls no tools. Leave out 'tools'.");
  fields.none("chat_template", "This server uses the template of its model.");
  const Json* messages = fields.find("messages");
  if (messages != nullptr) {
    call.messages = readMessages(*messages);
  } else if (fields.find("prompt") != nullptr) {
    call.prompt = fields.text("prompt");
  } else {
    refuseField("prompt", "The body must have 'prompt' (a text) or 'messages'.");
  }
  return call;
}

DetokenizeCall readDetokenizeCall(std::string_view body) {
  const Json json = parsed(body);
  const Fields fields(json);
  const Json* tokens = fields.find("tokens");
  if (tokens == nullptr || !tokens->is_array()) fields.mustBe("tokens", "a list of token ids");
  return {.model = fields.text("model"), .tokens = readIds(*tokens, "tokens")};
}

}  // namespace spanscope::server
