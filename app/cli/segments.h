// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/layout/span_table.h"

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {

/// Reads token ids written as "1,2,3". Throws the same errors as refuseOption().
std::vector<TokenId> parseIds(std::string_view text);

/// Makes a span table over `ids` from segments written as "i5,i4,d3". The number is the length of a segment
/// in tokens. An independent segment (i) attends only to itself. A dependent segment (d) attends to
/// everything before, too. An empty text means one dependent segment of all ids. Throws the same errors as
/// refuseOption() if the lengths do not add up to the number of ids.
layout::SpanTable parseSegments(std::string_view text, const std::vector<TokenId>& ids);

}  // namespace spanscope::cli
