// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either refused with an error or read as a query that YAML keeps.
// Words of the language for it: data/query-yaml.dict.
#include "engine/query/json/json.h"
#include "engine/query/yaml/yaml.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace spanscope::query;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ParseResult result = parseYaml(text);
  require(result.query.has_value() == !hasErrors(result.diagnostics));
  for (const Diagnostic& diagnostic : result.diagnostics) {
    require(diagnostic.offset <= size);
    require(diagnostic.position.line > 0 && diagnostic.position.column > 0);
    require(!diagnostic.located("fuzz").empty());
  }
  if (!result.query) return 0;

  require(parseYaml(writeYaml(*result.query)).query == result.query);
  require(parseJson(writePretty(*result.query)).query == result.query);
  const auto root = result.sources.find("");
  require(root && root->begin <= root->end && root->end <= size);
  yamlRemarks(*result.query);
  return 0;
}
