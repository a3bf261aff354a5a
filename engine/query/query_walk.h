// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/parse_result.h"
#include "engine/query/value_cursor.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::query {

/// One walk through a document of values: the cursor, the place where it stands, and what was said about the
/// document so far. What reads a part of the language gets it as its first argument.
class QueryWalk : private ValueCursor::Listener {
 public:
  /// Makes the cursor that walks through the text and reports to the listener.
  using MakeCursor = std::function<std::unique_ptr<ValueCursor>(ValueCursor::Listener&)>;

  /// `text` is well-formed UTF-8 of a size within the limits: what the offsets of the cursor refer to.
  QueryWalk(std::string_view text, const ParseLimits& limits, const MakeCursor& makeCursor);

  ValueCursor& cursor() { return *m_cursor; }

  /// Reads something that stands one step below what is being read: under a key, or at an index.
  template <class Read>
  void within(std::string step, Read read) {
    m_path.push_back(std::move(step));
    read();
    m_path.pop_back();
  }

  /// Too many of them end the walk.
  void error(std::size_t offset, std::string found, std::string expected, std::string hint = {});
  void warning(std::size_t offset, std::string found, std::string expected, std::string hint = {});
  std::size_t errors() const { return m_errors; }

  /// Reports that the next value is of the wrong kind, and passes it.
  void refuseValue(std::string expected, std::string hint = {});
  /// Reports that a list goes on after its last element. Does not pass what is too much.
  void refuseExtraElement(const std::string& form);
  /// Counts what becomes a node. False if the walk has ended, or ends because it is one too many.
  bool countNode(std::size_t offset);

  /// What was said, in the order of the text, with positions. Called once, at the end.
  std::vector<Diagnostic> takeDiagnostics();

 private:
  void jsonIssue(JsonIssue issue) override;
  void report(Severity severity, JsonIssue issue);
  /// The pointer of the place that is being read.
  std::string pointer() const;

  std::string_view m_text;
  ParseLimits m_limits;
  std::vector<std::string> m_path;  ///< keys and indices as they stand in the document
  std::vector<Diagnostic> m_diagnostics;
  std::size_t m_nodes = 0;
  std::size_t m_errors = 0;
  std::size_t m_warnings = 0;
  std::unique_ptr<ValueCursor> m_cursor;
};

}  // namespace spanscope::query
