// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"

#include "engine/query/json/json_cursor.h"
#include "engine/query/query_reader.h"
#include "engine/query/refuse_text.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace spanscope::query {

ParseResult parseJson(std::string_view text, const ParseLimits& limits) {
  if (auto problem = refuseText(text, limits.maxBytes)) {
    ParseResult result;
    result.diagnostics.push_back(std::move(*problem));
    return result;
  }
  const auto makeCursor = [&](ValueCursor::Listener& listener) {
    return std::make_unique<JsonCursor>(text, std::min(limits.maxDepth, kMaxDepth), listener);
  };
  return QueryReader(text, limits, makeCursor).read();
}

}  // namespace spanscope::query
