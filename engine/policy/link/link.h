// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/layout/span_table.h"
#include "engine/policy/policy.h"

#include <cstdint>
#include <limits>

namespace spanscope::policy {

/// Block attention with linked documents. Of each run of tokens that was computed by itself, the first n
/// tokens are computed once more, in view of everything before them. They are read in place of the original
/// tokens. EPIC's LegoLink does this (arXiv 2410.15332, n = 16), because every document that is computed by
/// itself grows an attention sink at its beginning.
extern const Policy kLink;

// A span table in which the beginnings of documents see everything before them.

/// A count for linkedTable(): as many tokens as a document has.
inline constexpr std::int32_t kWholeDocuments = std::numeric_limits<std::int32_t>::max();

/// Adds a segment to `spans` for each segment that does not see the whole prompt before it. The added segment
/// holds the first `count` visible tokens of that segment and stands before the rest of it. It sees the whole
/// prompt before it, with the links, and takes the places of the tokens that it repeats. The rest keeps the
/// keys and values of the whole segment. The whole segment is computed as it was, so its contents are found
/// wherever they were found before. Segments within a document go on seeing each other unlinked. The first
/// visible segment is not linked: it already sees all that is before it.
layout::SpanTable linkedTable(const layout::SpanTable& spans, std::int32_t count);

}  // namespace spanscope::policy
