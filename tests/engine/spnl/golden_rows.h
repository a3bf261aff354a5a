// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the recorded results of the reference program.
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
  std::string simplified;      ///< as writeCanonical() would write it, with null for a missing value
  std::string optimized;       ///< in the same form
  bool serverAccepts = false;  ///< for the text as it was given, so false for YAML
};

/// The rows of the file with this name in tests/engine/query/data; empty if it is missing.
std::vector<GoldenRow> goldenRows(const std::string& name);

/// The rows whose query was given as YAML, read from its canonical text; empty if the golden folder is
/// missing.
std::vector<GoldenRow> goldenYamlRows();

/// The canonical text in the form of the rows, which also write an infinite temperature as null.
std::string comparable(const query::Node& query);

}  // namespace spanscope::plan::testing
