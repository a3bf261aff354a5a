// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the JSON of servers' answers, which is unreliable. Fields have other types, characters are split
// between events, and errors have many forms. Open this file if the client cannot read an answer.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::remote {

/// Returns the field. Returns null if the field is missing or null, or if `object` is no object.
inline const nlohmann::json* fieldOf(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// Returns the text of a field, or an empty text.
inline std::string textOf(const nlohmann::json& object, const char* name) {
  const nlohmann::json* field = fieldOf(object, name);
  return field != nullptr && field->is_string() ? field->get<std::string>() : std::string();
}

/// Returns a count of tokens, or nothing if the value is impossible.
inline std::optional<std::int64_t> countOf(const nlohmann::json& object, const char* name) {
  constexpr double kMost = 1e9;
  const nlohmann::json* field = fieldOf(object, name);
  if (field == nullptr || !field->is_number()) return std::nullopt;
  const double value = field->get<double>();
  if (!(value >= 0) || value > kMost) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

/// Finds the outermost JSON objects of a text that arrives in pieces. The text has one object, one object per
/// line, several objects in a row, or a list. The scanner reads only braces and quotes. A parser must check
/// each object.
class ObjectScanner {
 public:
  explicit ObjectScanner(std::function<void(std::string_view object)> receive)
      : m_receive(std::move(receive)) {}

  void add(std::string_view piece);

  /// Whether an object has begun but not ended.
  bool isInside() const { return m_depth > 0; }
  /// Returns the bytes of the object that has begun.
  std::size_t held() const { return m_object.size(); }
  /// Returns the text outside of objects.
  const std::string& between() const { return m_between; }

 private:
  std::function<void(std::string_view)> m_receive;
  std::string m_object;
  std::string m_between;
  std::size_t m_depth = 0;
  bool m_isInText = false;
  bool m_isEscaped = false;
};

/// Returns the ASCII letters of a text, in lower case.
std::string lettersOf(std::string_view text);

/// Returns the values of one event. Some servers send several values in one event. Characters that are
/// invalid in JSON are marked for joinedText(). Nothing: the data is no JSON.
std::optional<std::vector<nlohmann::json>> valuesIn(std::string_view data);

/// Appends text of valuesIn() to `held`, and returns all complete characters. At the end `held` is empty.
std::string joinedText(std::string& held, std::string_view piece, bool isEnd);

/// Whether a field has a value other than false, 0, or empty.
bool saysSomething(const nlohmann::json* field);

/// Returns the message of an error in any form. Empty: there is no message.
std::string errorWords(const nlohmann::json& json, int depth = 0);

/// Returns the message of an error, or the number of an error without a message.
std::string wordsOrCode(const nlohmann::json& json);

/// Throws Failure for an error of the server with this message.
[[noreturn]] void refuseAnswer(const std::string& words);

/// Returns the API of a value that no protocol here reads: "Ollama's own API (/api)". Null: unknown. Such a
/// value comes from a proxy, or from the address of another API.
const char* foreignApi(const nlohmann::json& json);

/// The contents of a message or of a piece of a message.
struct MessageParts {
  std::string text;
  std::string reasoning;
  std::string refusal;
  std::string calls;
  std::string noText{};
  bool lacksText = false;
};

/// Adds content, which is a text or a list of parts with types. `into` is a text of `parts`.
void takeContent(MessageParts& parts, const nlohmann::json& content, std::string& into, int depth = 0);

/// Adds a name to a list of names, "f, g".
void addName(std::string& names, const std::string& name);

}  // namespace spanscope::remote
