// SPDX-License-Identifier: GPL-3.0-or-later
// Declares the policy `link` and its span table. Open this file to change how documents are linked.
#pragma once

#include "engine/layout/span_table.h"
#include "engine/policy/policy.h"

#include <cstdint>
#include <limits>

namespace spanscope::policy {

/// Block attention with linked documents. Each run of tokens that was computed alone has a link: its first n
/// tokens are recomputed. The recomputed tokens attend to everything before them. Later tokens read the
/// recomputed tokens instead of the original tokens. EPIC's LegoLink does this (arXiv 2410.15332, n = 16).
/// The reason is that a document computed alone gets an attention sink at its beginning.
extern const Policy kLink;

// A span table in which the beginnings of documents attend to everything before them.

/// A count for linkedTable(): all tokens of each document.
inline constexpr std::int32_t kWholeDocuments = std::numeric_limits<std::int32_t>::max();

/// Adds a link to `spans` for each segment that does not attend to the whole prompt before it. The first
/// visible segment gets no link, because it attends to everything before it. Rules:
/// - A link has the first `count` visible tokens of its segment. The link comes before the rest of the
///   segment.
/// - The link attends to the whole prompt before it, with its links. The link has the positions of the tokens
///   that it repeats.
/// - The rest keeps the keys and values of the whole segment.
/// - The whole segment is computed as before. The contents of the whole segment are therefore hits as before.
/// - Segments in a document still attend to each other without links.
layout::SpanTable linkedTable(const layout::SpanTable& spans, std::int32_t count);

}  // namespace spanscope::policy
