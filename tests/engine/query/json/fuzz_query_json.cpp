// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either refused with an error or read as a query that both written forms keep.
// Words of the language for it: data/query-json.dict.
#include "engine/query/json/json.h"
#include "engine/query/parameters.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace spanscope::query;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ParseResult result = parseJson(text);
  require(result.query.has_value() == !hasErrors(result.diagnostics));
  for (const Diagnostic& diagnostic : result.diagnostics) {
    require(diagnostic.offset <= size);
    require(diagnostic.position.line > 0 && diagnostic.position.column > 0);
    require(!diagnostic.located("fuzz").empty());
  }
  if (!result.query) return 0;

  const std::string canonical = writeCanonical(*result.query);
  const ParseResult again = parseJson(canonical);
  require(again.query.has_value() && writeCanonical(*again.query) == canonical);
  require(parseJson(writePretty(*result.query)).query == result.query);
  require(result.sources.size() == again.sources.size());
  for (const ParameterUse& use : findParameters(*result.query))
    require(nodeAt(*result.query, use.node) != nullptr);
  resolveParameters(*result.query, {{"n", "1"}, {"a", "{a}"}});
  return 0;
}
