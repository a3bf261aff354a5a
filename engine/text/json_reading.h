// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of a JSON document with errors that name their place; for the sources of this folder only.
#pragma once

#include "engine/base/error.h"
#include "engine/text/file_bytes.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace spanscope::text {

/// Most bytes of the files beside a tokenizer: its configuration, its special tokens, a chat template.
inline constexpr std::uintmax_t kMaxTokenizerConfigBytes = std::uintmax_t{64} << 20U;

/// The whole of a JSON file, an object. Throws Failure with line and column for wrong syntax and any other
/// value; `what` says what the file should be.
nlohmann::json parseJsonObject(std::string_view text, const std::string& file, const std::string& what);

/// The step of a JSON pointer (RFC 6901) to a member: "/a~1b" for "a/b".
std::string escapedStep(std::string_view name);

/// The failure with the line and column of its place, a JSON pointer into the `text` of `file`: "12:5:
/// /model/type". What failed elsewhere, or says its position already, stays as it is.
Failure withPosition(const Failure& failure, std::string_view text, const std::string& file);

/// A value of a document and where it stands. Absent fields are null values.
class JsonPlace {
 public:
  JsonPlace(const nlohmann::json& value, std::string pointer, const std::string& file)
      : m_value(&value), m_pointer(std::move(pointer)), m_file(&file) {}

  const nlohmann::json& value() const { return *m_value; }
  const std::string& pointer() const { return m_pointer; }
  const std::string& file() const { return *m_file; }
  bool isNull() const { return m_value->is_null(); }

  Failure fail(std::string found, std::string expected) const {
    return Failure({*m_file, m_pointer, std::move(found), std::move(expected)});
  }

  /// Throws Failure unless this is an object.
  JsonPlace field(const std::string& name) const {
    static const nlohmann::json kAbsent;
    requireObject();
    const auto found = m_value->find(name);
    return member(name, found == m_value->end() ? kAbsent : *found);
  }
  /// The member `value` of this object, whose name is known.
  JsonPlace member(std::string_view name, const nlohmann::json& value) const {
    return {value, m_pointer + escapedStep(name), *m_file};
  }

  JsonPlace element(std::size_t index) const {
    return {(*m_value)[index], m_pointer + "/" + std::to_string(index), *m_file};
  }

  void requireObject() const {
    if (!m_value->is_object()) throw unexpected("an object");
  }
  /// Number of elements of a list of at most `limit`.
  std::size_t requireList(std::size_t limit) const {
    if (!m_value->is_array()) throw unexpected("a list");
    if (m_value->size() > limit) {
      throw fail(std::to_string(m_value->size()) + " elements", "at most " + std::to_string(limit));
    }
    return m_value->size();
  }
  const std::string& requireText() const {
    if (!m_value->is_string()) throw unexpected("a text");
    return m_value->get_ref<const std::string&>();
  }
  /// The text, or "" for null.
  std::string textOrEmpty() const { return isNull() ? std::string() : requireText(); }
  bool boolOr(bool absent) const {
    if (isNull()) return absent;
    if (!m_value->is_boolean()) throw unexpected("true or false");
    return m_value->get<bool>();
  }
  std::int32_t requireId() const {
    constexpr std::int64_t kMost = INT32_MAX;
    if (!m_value->is_number_integer() ||
        (m_value->is_number_unsigned() && m_value->get<std::uint64_t>() > kMost) ||
        m_value->get<std::int64_t>() < 0) {
      throw unexpected("a whole number from 0 to 2147483647");
    }
    return static_cast<std::int32_t>(m_value->get<std::int64_t>());
  }

  Failure unexpected(const std::string& expected) const {
    if (isNull()) return fail("nothing", expected);
    constexpr std::size_t kShown = 60;
    std::string shown = m_value->is_structured() ? "a value of the type " + std::string(m_value->type_name())
                                                 : m_value->dump(-1, ' ', true);
    if (shown.size() > kShown) shown = shown.substr(0, kShown) + "...";
    return fail(std::move(shown), expected);
  }

 private:
  const nlohmann::json* m_value;
  std::string m_pointer;
  const std::string* m_file;
};

/// What `read` makes of the root of a JSON file, an object. Every error of the file has its line and column.
template <class Read>
auto readJsonText(std::string_view text, const std::string& file, const std::string& what, const Read& read) {
  const nlohmann::json document = parseJsonObject(text, file, what);
  try {
    return read(JsonPlace(document, "", file));
  } catch (const Failure& failure) {
    throw withPosition(failure, text, file);
  }
}

template <class Read>
auto readJsonFile(const std::filesystem::path& path, std::uintmax_t limit, const std::string& what,
                  const Read& read) {
  return readJsonText(readFileBytes(path, limit, what), path.string(), what, read);
}

}  // namespace spanscope::text
