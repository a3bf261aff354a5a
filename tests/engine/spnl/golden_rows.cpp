// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/spnl/golden_rows.h"

#include "engine/query/json/json.h"

#include <nlohmann/json.hpp>

#include <fstream>

namespace spanscope::plan::testing {
namespace {

using Json = nlohmann::json;

/// The reference leaves out what is none, and reading that would give the default.
void addNulls(Json& value) {
  if (value.is_object() && value.contains("model")) {
    for (const char* name : {"max_tokens", "temperature"}) {
      if (!value.contains(name)) value[name] = nullptr;
    }
  }
  if (!value.is_structured()) return;
  for (Json& inner : value) addNulls(inner);
}

std::string canonical(Json value) {
  addNulls(value);
  const query::ParseResult parsed = query::parseJson(value.dump());
  return parsed.query ? query::writeCanonical(*parsed.query) : std::string();
}

/// `textOf` gives the query of a row as JSON.
template <class TextOf>
std::vector<GoldenRow> rowsOf(const std::string& path, TextOf textOf) {
  std::vector<GoldenRow> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const Json row = Json::parse(line);
    if (!row["accepted"].get<bool>()) continue;
    query::ParseResult parsed = query::parseJson(textOf(row));
    if (!parsed.query) continue;
    rows.push_back({row["id"].get<std::string>(), std::move(*parsed.query), canonical(row["simplified"]),
                    canonical(row["optimized"]), row["server_accepts"].get<bool>()});
  }
  return rows;
}

}  // namespace

std::vector<GoldenRow> goldenRows(const std::string& name) {
  return rowsOf(SPANSCOPE_SOURCE_DIR "/tests/engine/query/data/" + name,
                [](const Json& row) { return row["text"].get<std::string>(); });
}

std::vector<GoldenRow> goldenYamlRows() {
  return rowsOf(SPANSCOPE_GOLDEN_DIR "/spnl/yaml.jsonl", [](const Json& row) {
    return canonical(Json::parse(row["canonical_text"].get<std::string>()));
  });
}

std::string comparable(const query::Node& query) {
  std::string text = query::writeCanonical(query);
  const std::string infinite = R"("temperature":1e+39)";
  for (std::size_t at = text.find(infinite); at != std::string::npos; at = text.find(infinite, at)) {
    text.replace(at, infinite.size(), R"("temperature":null)");
  }
  return text;
}

}  // namespace spanscope::plan::testing
