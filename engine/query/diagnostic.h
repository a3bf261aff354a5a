// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the error or warning about the text of a query: its place, the found text and the expected text.
// Open this file to change how diagnostics are worded or located.
// Defines the result of reading a query from a text, in any form, and the limits of reading. Open this file
// to find the place of a node in the text.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// A place in a text. Lines and columns count from 1. Columns count characters (code points). 0 means that
/// there is no text.
struct TextPosition {
  std::size_t line = 0;
  std::size_t column = 0;
  bool operator==(const TextPosition&) const = default;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  /// JSON pointer (RFC 6901) into the document as it was written. "" is the whole document. Keys of more than
  /// 200 bytes are truncated.
  std::string pointer;
  TextPosition position;   ///< the place in the text
  std::size_t offset = 0;  ///< the place in the text, in bytes from 0
  std::string found;       ///< the text at this place, e.g. "the number 1.5"
  std::string expected;    ///< the text that belongs there, e.g. "a whole number from 0 to 255"
  std::string hint;        ///< how to correct the fault; may be empty

  /// Returns one line: "Spanscope found X, but needs Y. Hint.".
  std::string message() const;
  /// Returns one line, "file:line:column: pointer: message", without the unknown parts.
  std::string located(std::string_view file) const;

  bool operator==(const Diagnostic&) const = default;
};

/// Returns whether at least one diagnostic is an error.
bool hasErrors(const std::vector<Diagnostic>& diagnostics);

/// Returns the position of a byte of well-formed UTF-8 text. `offset` may be text.size().
TextPosition positionAt(std::string_view text, std::size_t offset);

/// Sets `position` from `offset` in all diagnostics. Reads the text once. The diagnostics must be ordered by
/// `offset`.
void locate(std::vector<Diagnostic>& diagnostics, std::string_view text);

/// Checks the size of a text, and whether the text is UTF-8, before the form of the text is known. Returns
/// nothing if the text has no fault.
std::optional<Diagnostic> refuseText(std::string_view text, std::size_t maxBytes);

/// If lines end with a carriage return alone, as in files of old programs, returns the text with line feeds.
/// Returns nothing for other texts. Each byte keeps its place.
std::optional<std::string> withLineFeeds(std::string_view text);

/// Bytes begin … end − 1 of a text.
struct SourceRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const SourceRange&) const = default;
};

/// Maps the NodePath of each node of a query to the place of the node in the text. The range of a node is its
/// operator object, including the braces.
class SourceMap {
 public:
  /// Returns the range of the node at this path, or nothing.
  std::optional<SourceRange> find(std::string_view path) const;
  /// Returns the path of the innermost node around the byte at `offset`, or nothing.
  std::optional<NodePath> nodeAround(std::size_t offset) const;
  /// Number of nodes.
  std::size_t size() const { return m_entries.size(); }

  /// For readers: a node begins. `step` is the path from the open node to the new node ("" for the root).
  /// Returns the number that close() needs.
  std::size_t open(std::string step, std::size_t begin);
  /// For readers: the node ends before byte `end`.
  void close(std::size_t node, std::size_t end);

 private:
  /// Entries are in preorder. The first child of a node follows the node. The next sibling is at the index
  /// `next`.
  struct Entry {
    std::string step;
    SourceRange range;
    std::size_t next = 0;
  };
  std::vector<Entry> m_entries;
};

/// Max number of nested containers (objects and lists). IBM/spnl has the same limit.
inline constexpr std::size_t kMaxDepth = 127;

struct ParseLimits {
  std::size_t maxBytes = std::size_t{64} << 20U;  ///< max size of the text
  std::size_t maxDepth = kMaxDepth;               ///< nesting of containers; larger values mean kMaxDepth
  std::size_t maxNodes = 1'000'000;               ///< max nodes of the query, including inputs of maps
  std::size_t maxDiagnostics = 100;  ///< max errors, and max warnings; the reader stops at the max of errors
};

struct ParseResult {
  std::optional<Node> query;            ///< the whole query; nothing after an error
  std::vector<Diagnostic> diagnostics;  ///< all errors and warnings, in the order of the text
  SourceMap sources;                    ///< the place of each node of `query`; empty without a query
};

}  // namespace spanscope::query
