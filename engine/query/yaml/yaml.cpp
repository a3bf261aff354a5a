// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/yaml/yaml.h"

#include "engine/query/query_reader.h"
#include "engine/query/refuse_text.h"
#include "engine/query/yaml/yaml_cursor.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace spanscope::query {

ParseResult parseYaml(std::string_view text, const ParseLimits& limits) {
  if (auto problem = refuseText(text, std::min(limits.maxBytes, kMaxYamlBytes))) {
    ParseResult result;
    result.diagnostics.push_back(std::move(*problem));
    return result;
  }
  std::optional<std::size_t> second;
  const auto makeCursor = [&](ValueCursor::Listener& listener) {
    auto cursor = std::make_unique<YamlCursor>(text, std::min(limits.maxDepth, kMaxDepth), listener);
    second = cursor->secondDocument();
    return cursor;
  };
  ParseResult result = QueryReader(text, limits, makeCursor).read();
  if (second && result.query) {
    result.diagnostics.push_back({Severity::Warning,
                                  {},
                                  positionAt(text, *second),
                                  *second,
                                  "a second document",
                                  "one",
                                  "only the first is read"});
  }
  return result;
}

}  // namespace spanscope::query
