// SPDX-License-Identifier: GPL-3.0-or-later
// The recorded results of the reference program.
#pragma once

#include "engine/query/json/json.h"
#include "engine/query/query.h"

#include <string>
#include <vector>

namespace spanscope::plan::testing {

/// One document that the reference accepts.
struct GoldenRow {
  std::string id;
  query::Node query;
  std::string simplified;      ///< as writeCanonical() would write it, with null where a value was none
  std::string optimized;       ///< the same
  bool serverAccepts = false;  ///< the text as it was given, so false for YAML
};

/// Those of the file of this name in tests/engine/query/data; empty if it is missing.
std::vector<GoldenRow> goldenRows(const std::string& name);

/// Those whose query was given as YAML, from its canonical text; empty if the golden folder is missing.
std::vector<GoldenRow> goldenYamlRows();

/// The canonical text in the way the rows are written: an infinite temperature is null there, too.
std::string comparable(const query::Node& query);

}  // namespace spanscope::plan::testing
