// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the JSON files of a model directory: strict about syntax, types and ranges, lenient about fields
// that are not asked for.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::checkpoint {

inline constexpr std::size_t kMaxJsonBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxJsonDepth = 64;

/// Text from a file for use in an error message: in quotes, control characters escaped, cut after about 80
/// bytes.
std::string inQuotes(std::string_view text);

/// A whole JSON document whose top is an object. Throws Failure for wrong syntax, text that is not UTF-8, a
/// name that occurs twice in an object, and documents beyond the limits above; `source` names it in errors.
nlohmann::json parseJsonObject(std::string_view text, const std::string& source);

/// The fields of one object. A field that is null counts as absent. Every read of a value of the wrong type
/// or out of range throws Failure with the JSON pointer of the field.
class JsonFields {
 public:
  /// `object` must outlive this. `pointer` is where it stands in its document.
  JsonFields(const nlohmann::json& object, std::string source, std::string pointer = "");

  bool has(const char* name) const { return find(name) != nullptr; }
  std::int64_t integer(const char* name, std::int64_t least, std::int64_t most) const;
  std::int64_t integer(const char* name, std::int64_t least, std::int64_t most, std::int64_t otherwise) const;
  /// Finite, least ≤ value ≤ most.
  double number(const char* name, double least, double most) const;
  double number(const char* name, double least, double most, double otherwise) const;
  bool flag(const char* name, bool otherwise) const;
  std::optional<std::string> text(const char* name) const;
  std::vector<std::string> texts(const char* name) const;  ///< empty if absent
  /// One integer or an array of them; empty if absent.
  std::vector<std::int64_t> integers(const char* name, std::int64_t least, std::int64_t most) const;
  std::optional<JsonFields> object(const char* name) const;
  const nlohmann::json& value() const { return *m_object; }

  [[noreturn]] void fail(const char* name, const std::string& found, const std::string& expected) const;

 private:
  const nlohmann::json* find(const char* name) const;
  std::int64_t checkedInteger(const nlohmann::json& value, const char* name, std::int64_t least,
                              std::int64_t most) const;

  const nlohmann::json* m_object;
  std::string m_source;
  std::string m_pointer;
};

}  // namespace spanscope::checkpoint
