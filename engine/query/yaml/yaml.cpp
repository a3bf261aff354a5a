// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/yaml/yaml.h"

#include "engine/base/utf8.h"
#include "engine/query/json/json.h"
#include "engine/query/query_reader.h"
#include "engine/query/refuse_text.h"
#include "engine/query/shown_text.h"
#include "engine/query/yaml/yaml_cursor.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace spanscope::query {
namespace {

/// Whether the text may be JSON with characters that are escaped as pairs, such as \ud83d\ude00. YAML has
/// no such escapes.
bool mayBeJsonWithPairs(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  return text.find("\\ud8") != std::string_view::npos || text.find("\\uD8") != std::string_view::npos;
}

}  // namespace

ParseResult parseYaml(std::string_view text, const ParseLimits& limits) {
  if (auto problem = refuseText(text, std::min(limits.maxBytes, kMaxYamlBytes))) {
    ParseResult result;
    result.diagnostics.push_back(std::move(*problem));
    return result;
  }
  if (mayBeJsonWithPairs(withoutByteOrderMark(text))) {
    ParseResult json = parseJson(text, limits);
    if (json.query) return json;
  }
  const std::optional<std::string> lines = withLineFeeds(text);
  if (lines) text = *lines;
  std::optional<std::size_t> second;
  std::optional<YamlCursor::Tag> tag;
  const auto makeCursor = [&](ValueCursor::Listener& listener) {
    auto cursor = std::make_unique<YamlCursor>(text, std::min(limits.maxDepth, kMaxDepth), listener);
    second = cursor->secondDocument();
    tag = cursor->firstTag();
    return cursor;
  };
  ParseResult result = QueryReader(text, limits, makeCursor).read();
  if (tag && result.query) {
    const auto isLater = [&tag](const Diagnostic& other) { return other.offset > tag->offset; };
    result.diagnostics.insert(std::find_if(result.diagnostics.begin(), result.diagnostics.end(), isLater),
                              {Severity::Warning,
                               {},
                               positionAt(text, tag->offset),
                               tag->offset,
                               "the tag " + inQuotes(tag->name),
                               "a value without a tag",
                               "the value is read as if the tag were not there"});
  }
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
