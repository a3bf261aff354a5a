// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either refused with an error or evaluated to a query that Lisp keeps.
// Words of the language for it: data/query-lisp.dict.
#include "engine/query/json/json.h"
#include "engine/query/lisp/lisp.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace spanscope::query;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

class Echo final : public Surroundings {
 public:
  std::variant<std::string, NotGiven> readFile(const std::string& path) override {
    return "[\"" + path + "\"]";
  }
  std::variant<std::string, NotGiven> ask(const std::string& prompt) override {
    if (prompt.empty()) return NotGiven{"no question", "one", {}};
    return prompt;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Echo surroundings;
  ParseLimits limits;
  // Small, so that loops come to their end quickly.
  limits.maxNodes = 2000;
  limits.maxBytes = 100'000;
  const ParseResult result = parseLisp(text, limits, &surroundings);
  require(result.query.has_value() == !hasErrors(result.diagnostics));
  for (const Diagnostic& diagnostic : result.diagnostics) {
    require(diagnostic.offset <= size);
    require(diagnostic.position.line > 0 && diagnostic.position.column > 0);
    require(!diagnostic.located("fuzz").empty());
  }
  if (!result.query) return 0;

  const ParseResult json = parseJson(writeCanonical(*result.query));
  require(json.query.has_value());
  require(result.sources.size() == json.sources.size());
  require(parseLisp(writeLisp(*result.query)).query == json.query);
  lispRemarks(*result.query);
  return 0;
}
