// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/field_readers.h"
#include "engine/query/parse_result.h"
#include "engine/query/query_walk.h"
#include "engine/query/value_cursor.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Reads one query from a document of values: the part of parseJson() and parseYaml() that knows the
/// language. It follows the operators' lists of fields. Use each object once.
class QueryReader : private NodeReader {
 public:
  /// `text` is well-formed UTF-8 within the limits. The offsets of the cursor refer to it.
  QueryReader(std::string_view text, const ParseLimits& limits, const QueryWalk::MakeCursor& makeCursor);

  ParseResult read();

 private:
  struct OperatorEntry;

  void readNode(Node& node, std::string step) override;
  void readOperator(const OperatorEntry& entry, Node& node);
  void readUnknownOperator(const std::string& key, std::size_t offset);

  QueryWalk::MakeCursor m_makeCursor;
  QueryWalk m_walk;
  ValueCursor& m_cursor;
  SourceMap m_sources;
};

}  // namespace spanscope::query
