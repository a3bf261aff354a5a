// SPDX-License-Identifier: GPL-3.0-or-later
// The recorded results of the reference program (tests/engine/query/data/spnl-json.jsonl).
#pragma once

#include "engine/query/query.h"

#include <string>
#include <vector>

namespace spanscope::plan::testing {

/// One document that the reference accepts.
struct GoldenRow {
  std::string id;
  query::Node query;
  std::string simplified;  ///< as writeCanonical() would write it, with null where a value was none
  std::string optimized;   ///< the same
  bool serverAccepts = false;
};

/// All of them; empty if the file is missing.
std::vector<GoldenRow> goldenRows();

/// The canonical text in the way the rows are written: an infinite temperature is null there, too.
std::string comparable(const query::Node& query);

}  // namespace spanscope::plan::testing
