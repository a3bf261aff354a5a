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

/// One walk through a document of values: the cursor, its place, and the diagnostics so far. Every reader of
/// a part of the language gets it as its first argument.
class QueryWalk : private ValueCursor::Listener {
 public:
  /// Makes the cursor that walks through the text and reports to the listener.
  using MakeCursor = std::function<std::unique_ptr<ValueCursor>(ValueCursor::Listener&)>;

  /// `text` is well-formed UTF-8 within the limits. The offsets of the cursor refer to it.
  QueryWalk(std::string_view text, const ParseLimits& limits, const MakeCursor& makeCursor);

  ValueCursor& cursor() { return *m_cursor; }

  /// Calls `read` for something one step below the current place: under a key, or at an index.
  template <class Read>
  void within(std::string step, Read read) {
    m_path.push_back(std::move(step));
    read();
    m_path.pop_back();
  }

  /// Reports an error. Too many errors end the walk.
  void error(std::size_t offset, std::string found, std::string expected, std::string hint = {});
  void warning(std::size_t offset, std::string found, std::string expected, std::string hint = {});
  std::size_t errors() const { return m_errors; }

  /// Reports that the next value has the wrong kind, and skips it.
  void refuseValue(std::string expected, std::string hint = {});
  /// Reports that a list has too many elements. Does not skip the extra elements.
  void refuseExtraElement(const std::string& form);
  /// Counts a new node. False if the walk has ended, or ends now because there are too many nodes.
  bool countNode(std::size_t offset);

  /// All diagnostics, in the order of the text, with positions. Call this once, at the end.
  std::vector<Diagnostic> takeDiagnostics();

 private:
  void jsonIssue(JsonIssue issue) override;
  void report(Severity severity, JsonIssue issue);
  /// The JSON pointer of the current place.
  std::string pointer() const;

  std::string_view m_text;
  ParseLimits m_limits;
  std::vector<std::string> m_path;  ///< keys and indices as the document writes them
  std::vector<Diagnostic> m_diagnostics;
  std::size_t m_nodes = 0;
  std::size_t m_errors = 0;
  std::size_t m_warnings = 0;
  std::unique_ptr<ValueCursor> m_cursor;
};

}  // namespace spanscope::query
