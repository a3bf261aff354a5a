// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the fields of a JSON text from front to back, checks each, and collects all that is wrong.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/json/json_cursor.h"
#include "engine/query/source_map.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::document {

/// Every reading function takes exactly one value: where it is not what was asked for, that is reported and
/// the value passed.
class JsonFields : private query::JsonCursor::Listener {
 public:
  /// `text` is well-formed UTF-8 and outlives this.
  explicit JsonFields(std::string_view text);

  /// Calls `member` for each member; it reads the value, or returns false for a key that it does not know,
  /// which is then warned of and passed. A key that comes twice is an error.
  bool object(const std::function<bool(const std::string& key)>& member);
  /// The same for an object whose keys are anybody's: `member` always reads.
  bool map(std::size_t most, const std::function<void(const std::string& key)>& member);
  bool array(std::size_t most, const std::function<void(std::size_t index)>& element);

  std::optional<std::string> text(std::size_t mostBytes);
  std::optional<double> number(double least, double most);
  std::optional<std::int64_t> whole(std::int64_t least, std::int64_t most);
  std::optional<std::uint64_t> natural();  ///< a whole number of 64 bits without a sign
  std::optional<bool> flag();
  /// `count` numbers of that range.
  std::optional<std::vector<double>> numbers(std::size_t count, double least, double most);
  /// Passes the value, whatever it is, and says where it stands.
  query::SourceRange raw();
  void expectEnd();

  /// Whether an object comes next.
  bool objectFollows();
  bool listFollows();
  /// Where the next value begins.
  std::size_t offset();
  bool stopped() const { return m_cursor.stopped(); }
  std::string pointer() const;
  void error(std::size_t offset, std::string found, std::string expected, std::string hint = {});
  void warning(std::size_t offset, std::string found, std::string expected, std::string hint = {});

  std::vector<query::Diagnostic> take() { return std::move(m_diagnostics); }

 private:
  void jsonIssue(query::JsonIssue issue) override;
  void report(Severity severity, query::JsonIssue issue);
  /// Whether a value of that kind comes next; reports and passes it if not.
  bool require(bool holds, const std::string& expected);

  std::string_view m_text;
  query::JsonCursor m_cursor;
  std::vector<std::string> m_path;
  std::vector<query::Diagnostic> m_diagnostics;
  std::size_t m_warnings = 0;
};

}  // namespace spanscope::document
