// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/segments.h"

#include "app/cli/option_values.h"
#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace spanscope::cli {
namespace {

[[noreturn]] void refuse(const char* option, std::string_view found, const std::string& expected) {
  refuseOption(option, query::inQuotes(found), expected);
}

/// A whole number of 31 bits.
std::optional<std::int32_t> parseNumber(std::string_view text) {
  const std::optional<std::uint64_t> value = parseWhole(text);
  if (!value || *value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

}  // namespace

std::vector<TokenId> parseIds(std::string_view text) {
  std::vector<TokenId> ids;
  for (const std::string_view part : splitAt(text, ',')) {
    const std::optional<std::int32_t> id = parseNumber(part);
    if (!id) refuse("--ids", part, "token ids, e.g. 1,2,3");
    ids.push_back(*id);
  }
  return ids;
}

layout::SpanTable parseSegments(std::string_view text, const std::vector<TokenId>& ids) {
  const std::string whole = "d" + std::to_string(ids.size());
  layout::SpanTable table;
  std::size_t used = 0;
  for (const std::string_view part : splitAt(text.empty() ? std::string_view(whole) : text, ',')) {
    const bool independent = part.starts_with('i');
    const std::optional<std::int32_t> length =
        independent || part.starts_with('d') ? parseNumber(part.substr(1)) : std::nullopt;
    if (!length || *length == 0) refuse("--segments", part, "i or d and a length, e.g. i5,i4,d3");
    const auto count = static_cast<std::size_t>(*length);
    if (count > ids.size() - used) {
      refuse("--segments", text,
             /*id:lengths-add-up*/ "lengths that add up to the " + counted(ids.size(), "id"));
    }
    layout::Segment segment;
    segment.independent = independent;
    segment.scope = independent ? static_cast<std::uint32_t>(table.segments.size()) + 1 : 0;
    segment.depth = independent ? 1 : 0;
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(used);
    segment.tokens.assign(first, first + *length);
    segment.base = static_cast<std::int64_t>(used);
    segment.runs = {{.count = *length, .source = layout::TokenRun::Source::Text, .node = {}}};
    for (std::uint32_t seen = 0; !independent && seen < table.segments.size(); ++seen) {
      segment.sees.push_back(seen);
    }
    used += count;
    table.segments.push_back(std::move(segment));
  }
  if (used != ids.size()) {
    refuse("--segments", text, "lengths that add up to the " + counted(ids.size(), "id"));
  }
  return table;
}

}  // namespace spanscope::cli
