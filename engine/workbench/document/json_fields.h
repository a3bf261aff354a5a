// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and checks the fields of a JSON text in order, and collects all errors. Open this file to read
// another type of field.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/json/json_cursor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::document {

/// Reads a JSON text. Every reading function reads exactly one value. The function reports and skips a value
/// that is not expected.
class JsonFields : private query::JsonCursor::Listener {
 public:
  /// `text` must be well-formed UTF-8 and outlive the object.
  explicit JsonFields(std::string_view text);

  /// Calls `member` for each member. `member` reads the value, or returns false for an unknown key. The
  /// member is then skipped with a warning. A key that occurs twice is an error.
  bool object(const std::function<bool(const std::string& key)>& member);
  /// Calls `member` for each member of an object with arbitrary keys. `member` always reads the value.
  bool map(std::size_t most, const std::function<void(const std::string& key)>& member);
  bool array(std::size_t most, const std::function<void(std::size_t index)>& element);

  std::optional<std::string> text(std::size_t mostBytes);
  std::optional<double> number(double least, double most);
  std::optional<std::int64_t> whole(std::int64_t least, std::int64_t most);
  std::optional<std::uint64_t> natural();  ///< a whole number of 64 bits without a sign
  std::optional<bool> flag();
  /// Reads `count` numbers, each from `least` to `most`.
  std::optional<std::vector<double>> numbers(std::size_t count, double least, double most);
  /// Skips any value and returns its place.
  query::SourceRange raw();
  void expectEnd();

  /// Whether the next value is an object.
  bool objectFollows();
  bool listFollows();
  /// Returns where the next value begins.
  std::size_t offset();
  bool stopped() const { return m_cursor.stopped(); }
  std::string pointer() const;
  void error(std::size_t offset, std::string found, std::string expected, std::string hint = {});
  void warning(std::size_t offset, std::string found, std::string expected, std::string hint = {});

  std::vector<query::Diagnostic> take() { return std::move(m_diagnostics); }

 private:
  void jsonIssue(query::JsonIssue issue) override;
  void report(Severity severity, query::JsonIssue issue);
  /// Checks that the next value has the right kind. Otherwise reports and skips the value.
  bool require(bool holds, const std::string& expected);

  std::string_view m_text;
  query::JsonCursor m_cursor;
  std::vector<std::string> m_path;
  std::vector<query::Diagnostic> m_diagnostics;
  std::size_t m_warnings = 0;
};

}  // namespace spanscope::document
