// SPDX-License-Identifier: GPL-3.0-or-later
// The JSON of what servers say. Nothing in it can be relied on: fields have other types, characters are
// divided between events, and errors come in every form.
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

/// Null where the object has no such field, or null in it, or is no object.
inline const nlohmann::json* fieldOf(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// Empty where it is no text.
inline std::string textOf(const nlohmann::json& object, const char* name) {
  const nlohmann::json* field = fieldOf(object, name);
  return field != nullptr && field->is_string() ? field->get<std::string>() : std::string();
}

/// A count of tokens; nothing where it is none that a server can have.
inline std::optional<std::int64_t> countOf(const nlohmann::json& object, const char* name) {
  constexpr double kMost = 1e9;
  const nlohmann::json* field = fieldOf(object, name);
  if (field == nullptr || !field->is_number()) return std::nullopt;
  const double value = field->get<double>();
  if (!(value >= 0) || value > kMost) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

/// Finds the outermost JSON objects of a text that comes piece by piece: one, one a line, one after the
/// other, or in a list. It looks at braces and quotes alone; whether an object is one, a parser finds.
class ObjectScanner {
 public:
  explicit ObjectScanner(std::function<void(std::string_view object)> receive)
      : m_receive(std::move(receive)) {}

  void add(std::string_view piece);

  /// Whether an object has begun that has no end yet.
  bool isInside() const { return m_depth > 0; }
  /// Bytes of it.
  std::size_t held() const { return m_object.size(); }
  /// What came outside of objects.
  const std::string& between() const { return m_between; }

 private:
  std::function<void(std::string_view)> m_receive;
  std::string m_object;
  std::string m_between;
  std::size_t m_depth = 0;
  bool m_isInText = false;
  bool m_isEscaped = false;
};

/// Without white space at both ends.
std::string_view trimmedData(std::string_view text);

/// ASCII letters of a text, in lower case.
std::string lettersOf(std::string_view text);

/// The values of one event. Some servers send several where the standard has one. What JSON cannot carry is
/// marked for joinedText(). Nothing: it is no JSON.
std::optional<std::vector<nlohmann::json>> valuesIn(std::string_view data);

/// Appends text of valuesIn() to what is held of it, and takes what is whole. At the end nothing is held.
std::string joinedText(std::string& held, std::string_view piece, bool isEnd);

/// Whether a field says something: not false, 0, or empty.
bool saysSomething(const nlohmann::json* field);

/// The words of an error in any of its forms; empty: there are none.
std::string errorWords(const nlohmann::json& json, int depth = 0);

/// The words of an error, or else its number.
std::string wordsOrCode(const nlohmann::json& json);

/// Throws Failure for an error of the server with these words.
[[noreturn]] void refuseAnswer(const std::string& words);

/// The API of a value, if it is one that no protocol here reads: "Ollama's own API (/api)". Null: none that
/// is known. Those who ask for an answer get one from a proxy, or at an address of another API.
const char* foreignApi(const nlohmann::json& json);

/// What a message or a piece of one consists of.
struct MessageParts {
  std::string text;
  std::string reasoning;
  std::string refusal;
  std::string calls;
  std::string noText{};
  bool lacksText = false;
};

/// Adds content, which is a text or a list of parts, each with a type. `into`: a text of `parts`.
void takeContent(MessageParts& parts, const nlohmann::json& content, std::string& into, int depth = 0);

/// Adds a name to a list of them, "f, g".
void addName(std::string& names, const std::string& name);

}  // namespace spanscope::remote
