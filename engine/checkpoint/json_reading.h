// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the JSON files of a model directory. Errors name the line, the column and the place. The readers are
// strict about syntax, types and ranges, and ignore unused fields. Open this file to read another JSON file
// of a model.
#pragma once

#include "engine/base/error.h"
#include "engine/checkpoint/mapped_file.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::checkpoint {

/// Max size in bytes of a tokenizer's file: its configuration, its special tokens, a chat template.
inline constexpr std::uintmax_t kMaxTokenizerConfigBytes = std::uintmax_t{64} << 20U;

/// The contents that a JSON file may have.
struct JsonRules {
  std::size_t maxBytes = std::size_t{64} << 20U;
  /// Max depth of nesting; 0: any. Checked together with namesOnce.
  std::size_t maxDepth = 0;
  /// Whether a name that occurs twice in an object is an error. Otherwise the last value counts, as in common
  /// JSON readers.
  bool namesOnce = false;
};

/// The rules for configuration files. A configuration file is small, and each of its values matters.
inline constexpr JsonRules kConfigurationRules{
    .maxBytes = std::size_t{16} << 20U, .maxDepth = 64, .namesOnce = true};

/// Prepares text from a file for an error message: in quotes, control characters escaped, truncated after
/// about 80 bytes.
std::string inQuotes(std::string_view text);

/// Returns the text with the numbers NaN, Infinity and -Infinity as texts in quotes. Python writes these
/// numbers, which are not JSON. A reader that needs a number refuses the text. Other readers ignore the text.
std::string withQuotedNotFinite(std::string_view text);

/// Parses a whole JSON file, which must be an object. Throws Failure with line and column for wrong syntax,
/// for another value, and for everything that the rules forbid. `what` describes the file.
nlohmann::json parseJsonObject(std::string_view text, const std::string& file, const std::string& what,
                               const JsonRules& rules = {});

/// Adds line and column to a failure whose place is a JSON pointer into the `text` of `file`. An example is
/// "12:5: /model/type". A failure about something else, or with a position already, is returned unchanged.
Failure withPosition(const Failure& failure, std::string_view text, const std::string& file);

/// A value of a document and its place. Absent fields are null values. If a value has another type than the
/// getter, the getter throws Failure. The failure has the file and the JSON pointer of the value.
class JsonPlace {
 public:
  /// `value` and `file` must outlive this object.
  JsonPlace(const nlohmann::json& value, std::string pointer, const std::string& file)
      : m_value(&value), m_pointer(std::move(pointer)), m_file(&file) {}

  const nlohmann::json& value() const { return *m_value; }
  const std::string& pointer() const { return m_pointer; }
  const std::string& file() const { return *m_file; }
  bool isNull() const { return m_value->is_null(); }

  Failure fail(std::string found, std::string expected) const;
  /// Returns a failure: the value here is not `expected`.
  Failure unexpected(const std::string& expected) const;

  // For an object or a list.
  JsonPlace field(const std::string& name) const;
  /// Returns the member `value` of this object; the caller knows its name.
  JsonPlace member(std::string_view name, const nlohmann::json& value) const;
  JsonPlace element(std::size_t index) const;
  void requireObject() const;
  /// Returns the number of elements. Throws unless this is a list with at most `limit` elements.
  std::size_t requireList(std::size_t limit) const;

  // For a single value.
  const std::string& requireText() const;
  std::string textOrEmpty() const;  ///< the text, or "" for null
  bool boolOr(bool absent) const;
  std::int32_t requireId() const;  ///< 0 … 2^31 - 1
  std::int64_t requireInteger(std::int64_t least, std::int64_t most) const;
  double requireNumber(double least, double most) const;

  // Fields of this object by name. A null field counts as absent.
  bool has(const std::string& name) const { return !field(name).isNull(); }
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const;
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most,
                       std::int64_t otherwise) const;
  /// Returns a finite number with least ≤ value ≤ most.
  double number(const std::string& name, double least, double most) const;
  double number(const std::string& name, double least, double most, double otherwise) const;
  bool flag(const std::string& name, bool otherwise) const { return field(name).boolOr(otherwise); }
  std::optional<std::string> text(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;  ///< empty if absent
  /// Returns one integer or a list of integers; empty if absent.
  std::vector<std::int64_t> integers(const std::string& name, std::int64_t least, std::int64_t most) const;
  /// Returns a list of finite numbers with least ≤ value ≤ most; empty if absent.
  std::vector<double> numbers(const std::string& name, double least, double most) const;
  std::optional<JsonPlace> object(const std::string& name) const;

 private:
  const nlohmann::json* m_value;
  std::string m_pointer;
  const std::string* m_file;
};

/// Returns the result of `read` for the root of a JSON file, which must be an object. Every error of the file
/// has its line and column.
template <class Read>
auto readJsonText(std::string_view stored, const std::string& file, const std::string& what, const Read& read,
                  const JsonRules& rules = {}) {
  std::string changed;
  if (stored.find("NaN") != std::string_view::npos || stored.find("Infinity") != std::string_view::npos)
    changed = withQuotedNotFinite(stored);
  const std::string_view text = changed.empty() ? stored : std::string_view(changed);
  const nlohmann::json document = parseJsonObject(text, file, what, rules);
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

}  // namespace spanscope::checkpoint
