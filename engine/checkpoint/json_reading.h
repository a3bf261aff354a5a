// SPDX-License-Identifier: GPL-3.0-or-later
// The JSON files of a model directory: their fields, with errors that name the line, the column and the
// place. Strict about syntax, types and ranges, lenient about fields that are not asked for.
#pragma once

#include "engine/base/error.h"
#include "engine/checkpoint/file_bytes.h"

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

/// Most bytes of the files beside a tokenizer: its configuration, its special tokens, a chat template.
inline constexpr std::uintmax_t kMaxTokenizerConfigBytes = std::uintmax_t{64} << 20U;

/// What a JSON file may hold.
struct JsonRules {
  std::size_t maxBytes = std::size_t{64} << 20U;
  /// Levels of nesting; 0: any number. Checked together with names.
  std::size_t maxDepth = 0;
  /// Whether a name that stands twice in an object is an error; else the last one counts, as with the readers
  /// that such files were written for.
  bool namesOnce = false;
};

/// The rules for configurations, of which nothing is large and everything counts.
inline constexpr JsonRules kConfigurationRules{
    .maxBytes = std::size_t{16} << 20U, .maxDepth = 64, .namesOnce = true};

/// Text from a file for use in an error message: in quotes, control characters escaped, cut after about 80
/// bytes.
std::string inQuotes(std::string_view text);

/// The whole of a JSON file, an object. Throws Failure with line and column for wrong syntax, any other value
/// and what the rules refuse; `what` says what the file should be.
nlohmann::json parseJsonObject(std::string_view text, const std::string& file, const std::string& what,
                               const JsonRules& rules = {});

/// The failure with the line and column of its place, a JSON pointer into the `text` of `file`: "12:5:
/// /model/type". What failed elsewhere, or says its position already, stays as it is.
Failure withPosition(const Failure& failure, std::string_view text, const std::string& file);

/// A value of a document and where it stands. Absent fields are null values. What is not as it was asked for
/// throws Failure with the file and the JSON pointer of the value.
class JsonPlace {
 public:
  /// `value` and `file` outlive this.
  JsonPlace(const nlohmann::json& value, std::string pointer, const std::string& file)
      : m_value(&value), m_pointer(std::move(pointer)), m_file(&file) {}

  const nlohmann::json& value() const { return *m_value; }
  const std::string& pointer() const { return m_pointer; }
  const std::string& file() const { return *m_file; }
  bool isNull() const { return m_value->is_null(); }

  Failure fail(std::string found, std::string expected) const;
  /// That something else than `expected` stands here.
  Failure unexpected(const std::string& expected) const;

  // As an object or a list.
  JsonPlace field(const std::string& name) const;
  /// The member `value` of this object, whose name is known.
  JsonPlace member(std::string_view name, const nlohmann::json& value) const;
  JsonPlace element(std::size_t index) const;
  void requireObject() const;
  /// Number of elements of a list of at most `limit`.
  std::size_t requireList(std::size_t limit) const;

  // As a value of its own.
  const std::string& requireText() const;
  std::string textOrEmpty() const;  ///< the text, or "" for null
  bool boolOr(bool absent) const;
  std::int32_t requireId() const;  ///< 0 … 2^31 - 1
  std::int64_t requireInteger(std::int64_t least, std::int64_t most) const;

  // Its fields by name; one that is null counts as absent.
  bool has(const std::string& name) const { return !field(name).isNull(); }
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const;
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most,
                       std::int64_t otherwise) const;
  /// Finite, least ≤ value ≤ most.
  double number(const std::string& name, double least, double most) const;
  double number(const std::string& name, double least, double most, double otherwise) const;
  bool flag(const std::string& name, bool otherwise) const { return field(name).boolOr(otherwise); }
  std::optional<std::string> text(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;  ///< empty if absent
  /// One integer or a list of them; empty if absent.
  std::vector<std::int64_t> integers(const std::string& name, std::int64_t least, std::int64_t most) const;
  std::optional<JsonPlace> object(const std::string& name) const;

 private:
  const nlohmann::json* m_value;
  std::string m_pointer;
  const std::string* m_file;
};

/// What `read` makes of the root of a JSON file, an object. Every error of the file has its line and column.
template <class Read>
auto readJsonText(std::string_view text, const std::string& file, const std::string& what, const Read& read,
                  const JsonRules& rules = {}) {
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
