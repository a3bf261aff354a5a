// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/answer_json.h"

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/remote/http/http_client.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;

// Characters that are invalid in JSON: half of a surrogate pair, and bytes of an incomplete character.
// Servers split texts within characters. The parser reads these pieces as unused characters of plane 16.
// joinedText() joins the pieces afterwards.
constexpr char32_t kPlane = 0x100000;
constexpr char32_t kFirstSurrogate = 0xD800;
constexpr char32_t kFirstLow = 0xDC00;
constexpr char32_t kLastSurrogate = 0xDFFF;
constexpr char32_t kByteMarks = 0xE000;
constexpr std::size_t kEscapeLength = 6;

/// Length of an invalid JSON number at the beginning of a text; 0: there is no such number.
std::size_t oddNumber(std::string_view text) {
  for (const std::string_view number :
       {std::string_view("NaN"), std::string_view("Infinity"), std::string_view("-Infinity")}) {
    if (text.starts_with(number)) return number.size();
  }
  return 0;
}

/// Returns JSON in which marks replace characters that are invalid in JSON. Python's special numbers become
/// null, and control characters become escapes.
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
      marked += "\\u";
      appendHex(marked, static_cast<unsigned char>(rest.front()), 4);
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

/// The code of a four-byte character; nothing: the text begins with another character.
std::optional<char32_t> fourByteCharacter(std::string_view text) {
  if (text.size() < 4 || (static_cast<unsigned char>(text[0]) & 0xF8U) != 0xF0U) return std::nullopt;
  char32_t value = static_cast<unsigned char>(text[0]) & 0x07U;
  for (std::size_t i = 1; i < 4; ++i) value = value << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return value;
}

/// Parses one JSON value, which may contain characters that are invalid in JSON.
Json parsedValue(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  // The value is moved, because a copy of a deeply nested value needs much stack.
  if (json.is_discarded()) json = Json::parse(markedJson(text), nullptr, false);
  return json;
}

/// Whether a text contains only the marks of events and lists. `isDone`: whether the last kind of mark found
/// is "[DONE]", the end of a stream.
bool isGlue(std::string text, bool& isDone) {
  for (const std::string_view mark : {std::string_view("data:"), std::string_view("[DONE]")}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.erase(at, mark.size());
      isDone = mark == "[DONE]";
    }
  }
  return text.find_first_not_of(" \t\r\n,[]") == std::string::npos;
}

constexpr std::array kMessageFields{"message",       "msg",         "detail",       "error_msg",
                                    "error_message", "errorMsg",    "errorMessage", "Message",
                                    "fault",         "faultstring", "status_msg"};

/// Describes a value without its deep contents: "the number 42", "an object with the field \"parts\"".
std::string kindOf(const Json& value) {
  if (value.is_number()) return "the number " + value.dump();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (!value.is_object()) return "nested lists";
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

/// Keeps the first content that is not text, for an error or a warning. `into`: the text to which the content
/// belongs. Reasoning is not an answer.
void keepNoText(MessageParts& parts, const Json& content, const std::string& into) {
  const std::string type = textOf(content, "type");
  if (&into != &parts.text || type == "text") return;
  parts.lacksText |= type.empty();
  if (parts.noText.empty())
    parts.noText = type.empty() ? kindOf(content) : "content of the type " + shownReply(type);
}

}  // namespace

void ObjectScanner::add(std::string_view piece) {
  for (const char c : piece) {
    if (m_depth == 0 && c != '{') {
      m_between += c;
      continue;
    }
    m_object += c;
    if (m_isInText) {
      m_isInText = m_isEscaped || c != '"';
      m_isEscaped = !m_isEscaped && c == '\\';
    } else if (c == '"') {
      m_isInText = true;
    } else if (c == '{') {
      ++m_depth;
    } else if (c == '}' && --m_depth == 0) {
      std::string object;
      object.swap(m_object);
      m_receive(object);
    }
  }
}

std::string lettersOf(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (isLetter(c)) letters += smallLetter(c);
  }
  return letters;
}

std::string joinedText(std::string& held, std::string_view piece, bool isEnd) {
  if (held.empty() && piece.find('\xF4') == std::string_view::npos) return std::string(piece);
  std::string text;
  std::string waiting = held + std::string(piece);
  held.clear();
  std::string bytes;  // bytes of an incomplete character
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
  if (values.empty() || scanner.isInside() || std::ranges::any_of(values, isDamaged) ||
      !isGlue(scanner.between(), isDone))
    return std::nullopt;
  if (isDone) values.emplace_back("[DONE]");
  return values;
}

bool saysSomething(const Json* field) {
  if (field == nullptr) return false;
  if (field->is_boolean()) return field->get<bool>();
  if (field->is_number()) return field->get<double>() != 0;
  if (field->is_string()) return !field->get_ref<const std::string&>().empty();
  return !field->empty();
}

std::string errorWords(const Json& json, int depth) {
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
    // The message of a broker is vague. The field `raw` repeats the message of the server that failed.
    const Json* more = fieldOf(json, "metadata");
    const std::string raw = more == nullptr ? std::string() : textOf(*more, "raw");
    return (place.empty() ? "" : place + ": ") + words + (raw.empty() ? "" : ": " + raw);
  }
  return fieldOf(json, "base_resp") == nullptr ? std::string() : errorWords(*fieldOf(json, "base_resp"));
}

void refuseAnswer(const std::string& words) {
  throw Failure(errorAt("answer", "an error from the server: " + shownReply(words), "an answer"));
}

const char* foreignApi(const Json& json) {
  const auto has = [&json](const char* name) { return fieldOf(json, name) != nullptr; };
  const auto isFlag = [&json](const char* name) {
    const Json* field = fieldOf(json, name);
    return field != nullptr && field->is_boolean();
  };
  if (textOf(json, "type").starts_with("response.") || textOf(json, "object") == "response")
    return "OpenAI's Responses API";
  if (isFlag("stop") && has("content")) return "llama.cpp's own API (/completion)";
  if (isFlag("done") && (has("message") || has("response"))) return "Ollama's own API (/api)";
  if (has("candidates")) return "Gemini's own API";
  if (has("generated_text") || !textOf(json.value("token", Json()), "text").empty())
    return "TGI's own API (/generate)";
  return nullptr;
}

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
  return "an error without a message";
}

void addName(std::string& names, const std::string& name) {
  if (!name.empty()) names += (names.empty() ? "" : ", ") + name;
}

void takeContent(MessageParts& parts, const Json& content, std::string& into, int depth) {
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

}  // namespace spanscope::remote
