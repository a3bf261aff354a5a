// SPDX-License-Identifier: GPL-3.0-or-later
// A span table in which the beginnings of documents see everything before them.
#pragma once

#include "engine/layout/span_table.h"

#include <cstdint>
#include <limits>

namespace spanscope::policy {

/// As many tokens as a document has.
inline constexpr std::int32_t kWholeDocuments = std::numeric_limits<std::int32_t>::max();

/// `spans` with, before the rest of every segment that does not see the whole prompt before it, a segment of
/// its own for the first `count` of its visible tokens: they see the whole prompt before them, linked as it
/// is, and take the places of the tokens that they repeat. The rest keeps the keys and
/// values of the whole segment, which is computed as it was: what it holds is found wherever it was found.
/// Segments within a document go on seeing each other unlinked. What stands first sees all that there is.
layout::SpanTable linkedTable(const layout::SpanTable& spans, std::int32_t count);

}  // namespace spanscope::policy
