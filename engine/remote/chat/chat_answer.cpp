// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/chat_answer.h"

#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/remote/chat/json_fields.h"
#include "engine/remote/chat/object_scanner.h"
#include "engine/remote/http/shown_reply.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSpaces = " \t\r\n";

std::string_view trimmedData(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

/// ASCII letters of a text, in lower case.
std::string lettersOf(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (c >= 'a' && c <= 'z') letters += c;
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
  }
  return letters;
}

/// Whether words only keep a connection open.
bool isKeepAlive(std::string_view words) {
  if (words.starts_with(':')) return true;
  constexpr std::array<std::string_view, 6> kWords{"ping", "pong", "keepalive", "heartbeat", "hb", "alive"};
  return std::find(kWords.begin(), kWords.end(), lettersOf(words)) != kWords.end();
}

bool isDoneMark(std::string_view data) {
  return data == "[DONE]" || data == "[done]" || data == "\"[DONE]\"";
}

// Characters that JSON cannot carry: a half of a surrogate pair, and bytes that are a part of a character.
// Servers cut texts there. They are parsed as characters of plane 16 that nobody uses, and joined afterwards.
constexpr char32_t kPlane = 0x100000;
constexpr char32_t kFirstSurrogate = 0xD800;
constexpr char32_t kFirstLow = 0xDC00;
constexpr char32_t kLastSurrogate = 0xDFFF;
constexpr char32_t kByteMarks = 0xE000;
constexpr std::size_t kEscapeLength = 6;

/// The number of an escape \uXXXX at the beginning of a text.
std::optional<char32_t> escapedUnit(std::string_view text) {
  if (text.size() < kEscapeLength || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  unsigned value = 0;
  const char* const end = text.data() + kEscapeLength;
  const auto read = std::from_chars(text.data() + 2, end, value, 16);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return static_cast<char32_t>(value);
}

/// Length of a number at the beginning of a text that JSON does not have; 0: there is none.
std::size_t oddNumber(std::string_view text) {
  for (const std::string_view number :
       {std::string_view("NaN"), std::string_view("Infinity"), std::string_view("-Infinity")}) {
    if (text.starts_with(number)) return number.size();
  }
  return 0;
}

/// JSON with marks in place of what it cannot carry, null for the numbers that Python writes beside it, and
/// with escapes for control characters.
std::string markedJson(std::string_view text) {
  std::string marked;
  bool isInText = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (const std::size_t length = isInText ? 0 : oddNumber(rest); length > 0) {
      marked += "null";
      i += length;
      continue;
    }
    if (isInText && static_cast<unsigned char>(rest.front()) < ' ') {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto c = static_cast<unsigned char>(rest.front());
      marked += "\\u00";
      marked += kDigits[c >> 4U];
      marked += kDigits[c & 0xFU];
      ++i;
      continue;
    }
    if (rest.front() == '"') isInText = !isInText;
    if (rest.front() == '\\') {
      const std::optional<char32_t> unit = escapedUnit(rest);
      const bool isHigh = unit && *unit >= kFirstSurrogate && *unit < kFirstLow;
      const bool isLow = unit && *unit >= kFirstLow && *unit <= kLastSurrogate;
      const std::optional<char32_t> next =
          isHigh ? escapedUnit(rest.substr(kEscapeLength)) : std::optional<char32_t>();
      const bool isPair = next && *next >= kFirstLow && *next <= kLastSurrogate;
      if (isLow || (isHigh && !isPair)) {
        appendUtf8(marked, kPlane + *unit);
        i += kEscapeLength;
        continue;
      }
      const std::size_t length = isPair ? 2 * kEscapeLength : 2;
      marked += rest.substr(0, length);
      i += std::min(length, rest.size());
      continue;
    }
    const Utf8Step step = nextUtf8(rest);
    if (step.kind == Utf8Step::Kind::Character) {
      marked += rest.substr(0, step.length);
      i += step.length;
    } else {
      appendUtf8(marked, kPlane + kByteMarks + static_cast<unsigned char>(rest.front()));
      ++i;
    }
  }
  return marked;
}

/// The number of a four-byte character; nothing: the text begins with another.
std::optional<char32_t> fourByteCharacter(std::string_view text) {
  if (text.size() < 4 || (static_cast<unsigned char>(text[0]) & 0xF8U) != 0xF0U) return std::nullopt;
  char32_t value = static_cast<unsigned char>(text[0]) & 0x07U;
  for (std::size_t i = 1; i < 4; ++i) value = value << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return value;
}

/// Appends text with marks to what is held of it, and takes what is whole. At the end nothing is held.
std::string joined(std::string& held, std::string_view piece, bool isEnd) {
  if (held.empty() && piece.find('\xF4') == std::string_view::npos) return std::string(piece);
  std::string text;
  std::string waiting = held + std::string(piece);
  held.clear();
  std::string bytes;  // of a character that came as bytes
  const auto flush = [&] {
    text += toValidUtf8(bytes);
    bytes.clear();
  };
  for (std::size_t i = 0; i < waiting.size();) {
    const std::string_view rest = std::string_view(waiting).substr(i);
    const std::optional<char32_t> character = fourByteCharacter(rest);
    const char32_t mark = character && *character >= kPlane ? *character - kPlane : 0;
    if (mark >= kByteMarks + 0x80 && mark <= kByteMarks + 0xFF) {
      bytes += static_cast<char>(mark - kByteMarks);
      i += 4;
      continue;
    }
    flush();
    if (mark >= kFirstSurrogate && mark <= kLastSurrogate) {
      const std::optional<char32_t> next = fourByteCharacter(rest.substr(4));
      const char32_t low = next && *next >= kPlane ? *next - kPlane : 0;
      if (mark < kFirstLow && low >= kFirstLow && low <= kLastSurrogate) {
        appendUtf8(text, 0x10000 + ((mark - kFirstSurrogate) << 10U) + (low - kFirstLow));
        i += 8;
      } else if (mark < kFirstLow && rest.size() == 4 && !isEnd) {
        held = rest;
        return text;
      } else {
        text += kReplacementCharacter;
        i += 4;
      }
      continue;
    }
    const std::size_t length = nextUtf8(rest).length;
    text += rest.substr(0, length);
    i += length;
  }
  if (isEnd || settledUtf8Length(bytes) == bytes.size()) {
    flush();
    return text;
  }
  const std::size_t settled = settledUtf8Length(bytes);
  text += toValidUtf8(std::string_view(bytes).substr(0, settled));
  for (const char byte : bytes.substr(settled))
    appendUtf8(held, kPlane + kByteMarks + static_cast<unsigned char>(byte));
  return text;
}

/// One JSON value, also with what JSON cannot carry.
Json parsedValue(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  // It is not copied: for deep values that takes as many frames of the stack.
  if (json.is_discarded()) json = Json::parse(markedJson(text), nullptr, false);
  return json;
}

/// Whether nothing but marks of events and lists is in a text. `isDone`: whether the end of a stream is.
bool isGlue(std::string text, bool& isDone) {
  for (const std::string_view mark : {std::string_view("data:"), std::string_view("[DONE]")}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.erase(at, mark.size());
      isDone = mark == "[DONE]";
    }
  }
  return text.find_first_not_of(" \t\r\n,[]") == std::string::npos;
}

/// The values of one event. Some servers send several where the standard has one. Nothing: it is no JSON.
std::optional<std::vector<Json>> valuesIn(std::string_view data) {
  Json whole = parsedValue(data);
  std::vector<Json> values;
  if (!whole.is_discarded()) {
    if (whole.is_array())
      values.assign(std::make_move_iterator(whole.begin()), std::make_move_iterator(whole.end()));
    else
      values.push_back(std::move(whole));
    return values;
  }
  ObjectScanner scanner([&values](std::string_view text) { values.push_back(parsedValue(text)); });
  scanner.add(data);
  bool isDone = false;
  const auto isDamaged = [](const Json& value) { return value.is_discarded(); };
  if (values.empty() || scanner.isInside() || std::any_of(values.begin(), values.end(), isDamaged) ||
      !isGlue(scanner.between(), isDone))
    return std::nullopt;
  if (isDone) values.emplace_back("[DONE]");
  return values;
}

/// Whether a field says something: not false, 0, or empty.
bool saysSomething(const Json* field) {
  if (field == nullptr) return false;
  if (field->is_boolean()) return field->get<bool>();
  if (field->is_number()) return field->get<double>() != 0;
  if (field->is_string()) return !field->get_ref<const std::string&>().empty();
  return !field->empty();
}

constexpr std::array kMessageFields{"message",       "msg",         "detail",       "error_msg",
                                    "error_message", "errorMsg",    "errorMessage", "Message",
                                    "fault",         "faultstring", "status_msg"};

/// The words of an error in any of its forms; empty: there are none.
std::string errorWords(const Json& json, int depth = 0) {
  constexpr int kDeepest = 4;
  constexpr std::size_t kMostParts = 5;
  if (depth > kDeepest) return {};
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    std::string words;
    for (std::size_t i = 0; i < json.size() && i < kMostParts; ++i) {
      const std::string part = errorWords(json[i], depth + 1);
      if (!part.empty()) words += (words.empty() ? "" : "; ") + part;
    }
    return words;
  }
  if (!json.is_object()) return {};
  for (const char* const name : {"error", "errors"}) {
    const Json* field = fieldOf(json, name);
    if (!saysSomething(field)) continue;
    if (std::string words = errorWords(*field, depth + 1); !words.empty()) return words;
  }
  for (const char* const name : kMessageFields) {
    const Json* field = fieldOf(json, name);
    std::string words = field == nullptr ? std::string() : errorWords(*field, depth + 1);
    if (words.empty()) continue;
    std::string place;
    if (const Json* path = fieldOf(json, "loc"); path != nullptr && path->is_array()) {
      for (const Json& step : *path) {
        if (!step.is_string() && !step.is_number()) continue;
        place += (place.empty() ? "" : ".") + (step.is_string() ? step.get<std::string>() : step.dump());
      }
    }
    // A broker's own words say little; it repeats those of the server that failed.
    const Json* more = fieldOf(json, "metadata");
    const std::string raw = more == nullptr ? std::string() : textOf(*more, "raw");
    return (place.empty() ? "" : place + ": ") + words + (raw.empty() ? "" : ": " + raw);
  }
  return fieldOf(json, "base_resp") == nullptr ? std::string() : errorWords(*fieldOf(json, "base_resp"));
}

[[noreturn]] void refuseAnswer(const std::string& words) {
  throw Failure(errorAt("answer", "an error of the server: " + shownReply(words), "a chat completion"));
}

/// The words of an error, or else its number.
std::string wordsOrCode(const Json& json) {
  if (std::string words = errorWords(json); !words.empty()) return words;
  const Json* error = fieldOf(json, "error");
  for (const Json* object : {error, &json}) {
    if (object == nullptr) continue;
    for (const char* const name : {"code", "status", "status_code", "type"}) {
      const Json* field = fieldOf(*object, name);
      if (field == nullptr || !(field->is_number() || field->is_string())) continue;
      return std::string(name) + " " + (field->is_string() ? field->get<std::string>() : field->dump());
    }
  }
  return "one without words";
}

/// Throws Failure where an event says that it is an error.
void refuseErrors(const Json& json, std::string_view name) {
  const std::string type = textOf(json, "type");
  const Json* status = fieldOf(json, "base_resp");
  const bool isError = saysSomething(fieldOf(json, "error")) || saysSomething(fieldOf(json, "errors")) ||
                       textOf(json, "object") == "error" || type == "error" ||
                       lettersOf(name).find("error") != std::string::npos ||
                       (status != nullptr && saysSomething(fieldOf(*status, "status_code")));
  if (isError) refuseAnswer(wordsOrCode(json));
}

/// The API that an event without choices is of; null: none that is known. Those who ask for a chat completion
/// get one from a proxy, or at an address of another API.
const char* otherApi(const Json& json) {
  const std::string type = textOf(json, "type");
  const std::string object = textOf(json, "object");
  const auto has = [&json](const char* name) { return fieldOf(json, name) != nullptr; };
  const auto isFlag = [&json](const char* name) {
    const Json* field = fieldOf(json, name);
    return field != nullptr && field->is_boolean();
  };
  if (type.starts_with("response.") || object == "response") return "OpenAI's Responses API";
  constexpr std::array<std::string_view, 6> kMessageEvents{"message_start",       "message_delta",
                                                           "message_stop",        "content_block_start",
                                                           "content_block_delta", "content_block_stop"};
  if (std::find(kMessageEvents.begin(), kMessageEvents.end(), type) != kMessageEvents.end() ||
      (type == "message" && has("role") && has("content")))
    return "Anthropic's Messages API";
  if (isFlag("stop") && has("content")) return "llama.cpp's own API (/completion)";
  if (isFlag("done") && (has("message") || has("response"))) return "Ollama's own API (/api)";
  if (has("candidates")) return "Gemini's own API";
  if (has("generated_text") || !textOf(json.value("token", Json()), "text").empty())
    return "TGI's own API (/generate)";
  return nullptr;
}

void refuseOtherApi(const Json& json) {
  const char* const api = otherApi(json);
  if (api == nullptr) return;
  throw Failure(errorAt("answer", std::string("an answer of ") + api,
                        "a chat completion: the server's address must be that of its OpenAI-compatible API, "
                        "which mostly ends in /v1"));
}

/// How many tokens of the prompt came from the cache, by the names that servers have for it.
std::optional<std::int64_t> cachedIn(const Json& usage) {
  for (const char* const details : {"prompt_tokens_details", "input_tokens_details"}) {
    const Json* object = fieldOf(usage, details);
    if (object == nullptr) continue;
    if (const auto count = countOf(*object, "cached_tokens")) return count;
  }
  for (const char* const name : {"cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"}) {
    if (const auto count = countOf(usage, name)) return count;
  }
  return std::nullopt;
}

void takeUsage(ChatAnswer& answer, const Json* usage) {
  // No prompt has 0 tokens: vLLM with the span patch writes so what it does not count.
  if (usage == nullptr || countOf(*usage, "prompt_tokens") == std::int64_t{0}) return;
  if (const auto count = countOf(*usage, "prompt_tokens")) answer.promptTokens = count;
  if (const auto count = countOf(*usage, "completion_tokens")) answer.generatedTokens = count;
  if (const auto count = cachedIn(*usage)) answer.cachedTokens = count;
}

void takeFacts(ChatAnswer& answer, const Json& json) {
  if (std::string model = textOf(json, "model"); !model.empty()) answer.model = std::move(model);
  if (const Json* own = fieldOf(json, "x_groq")) takeUsage(answer, fieldOf(*own, "usage"));
  takeUsage(answer, fieldOf(json, "usage"));
  // llama.cpp says the same beside it, also where a stream has no usage.
  if (const Json* timings = fieldOf(json, "timings")) {
    const auto cached = countOf(*timings, "cache_n");
    const auto computed = countOf(*timings, "prompt_n");
    if (cached && !answer.cachedTokens) answer.cachedTokens = cached;
    if (cached && computed && !answer.promptTokens) answer.promptTokens = *cached + *computed;
    if (const auto count = countOf(*timings, "predicted_n"); count && !answer.generatedTokens)
      answer.generatedTokens = count;
  }
  if (const Json* progress = fieldOf(json, "prompt_progress")) {
    const auto total = countOf(*progress, "total");
    const auto processed = countOf(*progress, "processed");
    if (total && processed) {
      answer.progress = PromptProgress{
          .total = *total, .cached = countOf(*progress, "cache").value_or(0), .processed = *processed};
    }
  }
}

/// The choices that are objects; others mean nothing.
std::vector<const Json*> choicesOf(const Json& json) {
  std::vector<const Json*> found;
  const Json* choices = fieldOf(json, "choices");
  if (choices == nullptr || !choices->is_array()) return found;
  for (const Json& choice : *choices) {
    if (choice.is_object()) found.push_back(&choice);
  }
  return found;
}

/// The answer that a choice is of. Where only one was asked for, the first one is it, whatever its index.
std::size_t answerOf(const Json& choice, std::size_t answers) {
  if (answers == 1) return 0;
  const std::optional<std::int64_t> index = countOf(choice, "index");
  if (index && static_cast<std::size_t>(*index) < answers) return static_cast<std::size_t>(*index);
  throw Failure(errorAt("answer", index ? "choice " + std::to_string(*index) : "a choice without an index",
                        "one of 0 … " + std::to_string(answers - 1)));
}

/// What a message or a piece of one consists of.
struct MessageParts {
  std::string text;
  std::string reasoning;
  std::string refusal;
  std::string calls;
  std::string noText{};
  bool lacksText = false;
};

void addName(std::string& names, const std::string& name) {
  if (!name.empty()) names += (names.empty() ? "" : ", ") + name;
}

/// What a value is, without what lies deep in it: "the number 42", "an object with the field \"parts\"".
std::string kindOf(const Json& value) {
  if (value.is_number()) return "the number " + value.dump();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (!value.is_object()) return "a list in lists";
  constexpr std::size_t kMostNames = 3;
  std::string names;
  std::size_t count = 0;
  for (const auto& field : value.items()) {
    if (++count > kMostNames) break;
    addName(names, '"' + shownReply(toValidUtf8(field.key())) + '"');
  }
  return "an object with the " + std::string(value.size() == 1 ? "field " : "fields ") + names +
         (value.size() > kMostNames ? ", …" : "");
}

/// Keeps the first content that is no text, for an error or a warning. `into`: what it was read for; thoughts
/// are no answer.
void keepNoText(MessageParts& parts, const Json& content, const std::string& into) {
  const std::string type = textOf(content, "type");
  if (&into != &parts.text || type == "text") return;
  parts.lacksText |= type.empty();
  if (parts.noText.empty())
    parts.noText = type.empty() ? kindOf(content) : "a part of the type " + shownReply(type);
}

/// Content is a text or a list of parts, each with a type.
void takeContent(MessageParts& parts, const Json& content, std::string& into, int depth = 0) {
  constexpr int kDeepest = 4;
  if (depth > kDeepest) return keepNoText(parts, content, into);
  if (content.is_number() || content.is_boolean()) {
    keepNoText(parts, content, into);
  } else if (content.is_string()) {
    into += content.get_ref<const std::string&>();
  } else if (content.is_array()) {
    for (const Json& part : content) takeContent(parts, part, into, depth + 1);
  } else if (content.is_object()) {
    const std::string type = lettersOf(textOf(content, "type"));
    const bool isThought =
        type.find("thinking") != std::string::npos || type.find("reasoning") != std::string::npos;
    std::string& target = type == "refusal" ? parts.refusal : isThought ? parts.reasoning : into;
    for (const char* const name : {"text", "value", "content", "thinking", "reasoning", "refusal"}) {
      if (const Json* field = fieldOf(content, name)) {
        return takeContent(parts, *field, target, depth + 1);
      }
    }
    if (!content.empty()) keepNoText(parts, content, target);
  }
}

MessageParts partsOf(const Json& message) {
  MessageParts parts;
  if (!message.is_object()) {
    takeContent(parts, message, parts.text);
    return parts;
  }
  if (const Json* content = fieldOf(message, "content")) takeContent(parts, *content, parts.text);
  // Several names for one thing; some servers send it under two of them.
  for (const char* const name : {"reasoning_content", "reasoning", "thinking"}) {
    const Json* thoughts = fieldOf(message, name);
    if (thoughts == nullptr || !parts.reasoning.empty()) continue;
    takeContent(parts, *thoughts, parts.reasoning);
  }
  parts.refusal += textOf(message, "refusal");
  if (const Json* calls = fieldOf(message, "tool_calls"); calls != nullptr && calls->is_array()) {
    for (const Json& call : *calls) {
      if (const Json* function = fieldOf(call, "function")) addName(parts.calls, textOf(*function, "name"));
    }
  }
  if (const Json* function = fieldOf(message, "function_call"))
    addName(parts.calls, textOf(*function, "name"));
  return parts;
}

/// What is new in a text that a server sends whole each time, or as a piece.
std::string newPart(const std::string& before, const std::string& now, bool isLast) {
  const bool repeats = !before.empty() && now.starts_with(before) && (isLast || now.size() > before.size());
  return repeats ? now.substr(before.size()) : now;
}

void takeFinish(ChatAnswer& answer, const Json& choice) {
  const Json* finish = fieldOf(choice, "finish_reason");
  if (finish == nullptr) return;
  // An object is SGLang's own form.
  const std::string reason = finish->is_string() ? finish->get<std::string>() : textOf(*finish, "type");
  if (finish->is_object()) {
    if (std::string words = textOf(*finish, "message"); !words.empty()) answer.words = std::move(words);
  }
  if (!reason.empty() && reason != "null") answer.finish = shownReply(reason);
}

/// Takes a choice and returns the new text of it. A completion has its text beside the message.
std::string takeChoice(ChatAnswer& answer, const Json& choice, bool isWhole) {
  if (saysSomething(fieldOf(choice, "error"))) refuseAnswer(wordsOrCode(choice));
  takeFinish(answer, choice);
  const Json* delta = fieldOf(choice, "delta");
  const Json* message = fieldOf(choice, "message");
  MessageParts parts = delta == nullptr ? MessageParts() : partsOf(*delta);
  if (parts.text.empty()) parts.text = textOf(choice, "text");
  const bool isSilent = parts.text.empty() && parts.reasoning.empty() && parts.refusal.empty();
  if (isSilent && message != nullptr) {
    const MessageParts whole = partsOf(*message);
    const bool isLast = isWhole || !answer.finish.empty();
    parts.text = newPart(answer.text, whole.text, isLast);
    parts.reasoning = newPart(answer.reasoning, whole.reasoning, isLast);
    parts.refusal = newPart(answer.refusal, whole.refusal, isLast);
    if (answer.calls.empty()) parts.calls = whole.calls;
    parts.noText = whole.noText;
    parts.lacksText = whole.lacksText;
  }
  if (answer.noText.empty()) answer.noText = parts.noText;
  answer.lacksText |= parts.lacksText;
  answer.reasoning += toValidUtf8(parts.reasoning);
  answer.refusal += parts.refusal;
  addName(answer.calls, parts.calls);
  std::string piece = joined(answer.held, parts.text, !answer.finish.empty());
  answer.text += piece;
  return piece;
}

/// Where one answer was asked for, it is choice 0. A server that counts otherwise has one of another index,
/// which is kept until it is known that choice 0 does not come.
void keepOther(ChatAnswer& answer, const Json& choice, std::int64_t index, bool isWhole) {
  if (answer.choice) return;
  if (answer.others.empty()) answer.others.emplace_back().choice = index;
  ChatAnswer& other = answer.others.front();
  if (other.choice != index) return;
  // Its error is none of choice 0, which may still come.
  if (saysSomething(fieldOf(choice, "error"))) {
    other.finish = "error";
    other.words = wordsOrCode(choice);
    return;
  }
  takeChoice(other, choice, isWhole);
}

/// Adds to the texts what is still held of them.
void endTexts(std::span<ChatAnswer> answers, std::vector<AnswerText>& came) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::string piece = takeOther(answers[i]);
    answers[i].isDone = true;
    std::string last = joined(answers[i].held, {}, true);
    answers[i].text += last;
    piece += last;
    if (!piece.empty()) came.push_back({i, std::move(piece)});
  }
}

void takeValue(std::span<ChatAnswer> answers, const Json& json, std::string_view name,
               std::vector<AnswerText>& came) {
  ChatAnswer& first = answers.front();
  if (json.is_string()) {
    const std::string& words = json.get_ref<const std::string&>();
    if (isDoneMark(words)) return endTexts(answers, came);
    if (lettersOf(name).find("error") != std::string::npos) refuseAnswer(words);
    if (!isKeepAlive(words) && !trimmedData(words).empty()) first.words = words;
    return;
  }
  if (!json.is_object()) return;
  refuseErrors(json, name);
  takeFacts(first, json);
  const std::vector<const Json*> choices = choicesOf(json);
  if (choices.empty() && !isKeepAlive(textOf(json, "type"))) {
    refuseOtherApi(json);
    if (std::string words = errorWords(json); !words.empty()) first.words = std::move(words);
  }
  const bool isWhole = textOf(json, "object") == "chat.completion";
  for (const Json* choice : choices) {
    takeUsage(first, fieldOf(*choice, "usage"));
    const std::size_t index = answerOf(*choice, answers.size());
    const std::int64_t said = countOf(*choice, "index").value_or(0);
    if (answers.size() == 1 && said != 0) {
      keepOther(first, *choice, said, isWhole);
      continue;
    }
    answers[index].choice = said;
    std::string piece = takeChoice(answers[index], *choice, isWhole);
    if (!piece.empty()) came.push_back({index, std::move(piece)});
  }
}

/// Whether a server ended an answer for another reason than the model or the limit.
bool isBrokenOff(std::string_view finish) {
  constexpr std::array<std::string_view, 17> kReasons{
      "error",     "abort",     "cancel",     "fail",       "filter",   "safety",
      "block",     "sensitive", "recitation", "prohibited", "refus",    "insufficient",
      "interrupt", "malformed", "overload",   "timeout",    "timelimit"};
  const std::string reason = lettersOf(finish);
  return std::any_of(kReasons.begin(), kReasons.end(),
                     [&reason](std::string_view part) { return reason.find(part) != std::string::npos; });
}

/// Whether all of a text are thoughts that the server did not tell apart.
bool isThoughtAlone(const std::string& text) {
  const std::string_view rest = trimmedData(text);
  constexpr std::string_view kBegin = "<think>";
  constexpr std::string_view kEnd = "</think>";
  if (!rest.starts_with(kBegin)) return false;
  const std::size_t end = rest.rfind(kEnd);
  return end == std::string_view::npos || end + kEnd.size() == rest.size();
}

/// The text between the first of these marks in a page.
std::string between(std::string_view page, std::string_view begin, std::string_view end) {
  const std::size_t at = page.find(begin);
  if (at == std::string_view::npos) return {};
  const std::size_t from = page.find('>', at);
  const std::size_t to = from == std::string_view::npos ? from : page.find(end, from);
  return to == std::string_view::npos ? std::string()
                                      : std::string(trimmedData(page.substr(from + 1, to - from - 1)));
}

/// What a page says: its title, heading or text without tags.
std::string pageWords(std::string_view page) {
  std::string title = between(page, "<title", "</title");
  if (!title.empty()) return title;
  title = between(page, "<h1", "</h1");
  if (!title.empty()) return title;
  std::string words;
  bool isTag = false;
  for (const char c : page) {
    if (c == '<') isTag = true;
    if (!isTag) words += c;
    if (c == '>') isTag = false;
  }
  return std::string(trimmedData(words));
}

}  // namespace

std::string cachedText(const CachedTokens& cached) {
  switch (cached.state) {
    case CachedState::Found:
      return std::to_string(cached.tokens);
    case CachedState::MeasuredZero:
      return "0";
    case CachedState::NotReported:
      return "not reported";
    case CachedState::CannotReport:
      break;
  }
  return "cannot be reported";
}

std::string takeOther(ChatAnswer& answer) {
  if (answer.choice || answer.others.empty()) return {};
  const ChatAnswer other = std::move(answer.others.front());
  answer.others.clear();
  answer.choice = other.choice;
  answer.text = other.text;
  answer.reasoning = other.reasoning;
  answer.refusal = other.refusal;
  answer.calls = other.calls;
  answer.noText = other.noText;
  answer.lacksText = other.lacksText;
  answer.finish = other.finish;
  answer.held = other.held;
  if (!other.words.empty()) answer.words = other.words;
  return answer.text;
}

std::string ChatAnswer::add(std::string_view data) {
  std::string pieces;
  for (const AnswerText& came : addEvent(std::span(this, 1), data)) pieces += came.piece;
  return pieces;
}

std::vector<AnswerText> addEvent(std::span<ChatAnswer> answers, std::string_view data,
                                 std::string_view name) {
  std::vector<AnswerText> came;
  const std::string_view words = trimmedData(data);
  const bool isError = lettersOf(name).find("error") != std::string::npos;
  if (isDoneMark(words)) {
    endTexts(answers, came);
    return came;
  }
  if ((words.empty() && !isError) || isKeepAlive(words) || isKeepAlive(name)) return came;
  if (const std::optional<std::vector<Json>> values = valuesIn(words); values && !values->empty()) {
    for (const Json& value : *values) takeValue(answers, value, name, came);
    return came;
  }
  if (isError) refuseAnswer(words.empty() ? "an event of the name " + std::string(name) : std::string(words));
  if (words.find_first_of("{[") != std::string_view::npos || !isValidUtf8(words))
    throw Failure(errorAt("answer", shownReply(words), "a chat completion in JSON"));
  answers.front().words = words;
  return came;
}

std::optional<Error> problemOf(const ChatAnswer& answer, bool mayBeEmpty) {
  const std::string ended = answer.finish.empty() ? std::string() : " (finish_reason: " + answer.finish + ")";
  const auto refuse = [](std::string found, std::string expected) {
    return errorAt("answer", std::move(found), std::move(expected));
  };
  if (!answer.refusal.empty()) return refuse("a refusal: " + shownReply(answer.refusal) + ended, "an answer");
  if (isBrokenOff(answer.finish)) {
    return refuse("an answer that the server broke off" + ended +
                      (answer.words.empty() ? "" : ": " + shownReply(answer.words)),
                  "an answer that ends by itself");
  }
  const bool isBlank = trimmedData(answer.text).empty();
  if (!answer.noText.empty() && (isBlank || answer.lacksText))
    return refuse("content that is no text: " + answer.noText + ended, "a text, or a list of parts of texts");
  const bool isThought = !answer.reasoning.empty() && isBlank;
  if (isThought || isThoughtAlone(answer.text)) {
    const std::string& thoughts = isThought ? answer.reasoning : answer.text;
    return refuse("reasoning alone, of " + counted(countCharacters(thoughts), "character") + ended,
                  isTokenLimit(answer.finish) ? "an answer after it: more max tokens leave room for both"
                                              : "an answer after it");
  }
  if (isBlank && !answer.calls.empty())
    return refuse("a call of the tool " + shownReply(answer.calls) + ended,
                  "an answer: no tools were offered");
  if (answer.finish.empty() && !answer.words.empty())
    return refuse(shownReply(answer.words), "a chat completion");
  if (isBlank && !mayBeEmpty) {
    const std::string what =
        answer.text.empty()
            ? "no text"
            : "an empty answer, of " + counted(countCharacters(answer.text), "blank character");
    return refuse(what + ended + (answer.words.empty() ? "" : ": " + shownReply(answer.words)), "an answer");
  }
  return std::nullopt;
}

bool isTokenLimit(std::string_view finish) {
  const std::string reason = lettersOf(finish);
  return reason.find("length") != std::string::npos || reason.starts_with("maxtokens") ||
         reason.starts_with("maxoutput") || reason.find("contextwindow") != std::string::npos;
}

CachedTokens cachedOf(const ChatAnswer& answer, const ServerKindInfo& kind) {
  return cachedOf(answer, kind.cached);
}

CachedTokens cachedOf(const ChatAnswer& answer, CacheReporting reporting) {
  if (answer.cachedTokens)
    return {.state = *answer.cachedTokens > 0 ? CachedState::Found : CachedState::MeasuredZero,
            .tokens = *answer.cachedTokens};
  return {.state = reporting == CacheReporting::Never ? CachedState::CannotReport : CachedState::NotReported};
}

std::string errorMessage(std::string_view body) {
  const std::string_view text = trimmedData(withoutByteOrderMark(body));
  const Json json = Json::parse(text, nullptr, false);
  std::string words = json.is_discarded() ? std::string() : errorWords(json);
  if (words.empty() && text.starts_with('<')) words = pageWords(text);
  if (words.empty() && json.is_discarded()) {
    // An event, or an object after other words.
    ObjectScanner scanner([&words](std::string_view object) {
      const Json found = Json::parse(object, nullptr, false);
      if (words.empty() && !found.is_discarded()) words = errorWords(found);
    });
    scanner.add(text);
  }
  return shownReply(words.empty() ? text : std::string_view(words));
}

}  // namespace spanscope::remote
