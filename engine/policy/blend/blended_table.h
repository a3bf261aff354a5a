// SPDX-License-Identifier: GPL-3.0-or-later
// A span table in which documents are computed by themselves and stand in the prompt as copies, of which some
// tokens are computed again.
#pragma once

#include "engine/layout/span_table.h"

namespace spanscope::policy {

/// `spans` with everything from its first document to its last segment hidden, and after that a copy of each
/// of these segments (Segment::repeats) that sees the whole prompt before it; then the last segment, which
/// sees these. As it is where nothing stands in a document.
layout::SpanTable blendedTable(const layout::SpanTable& spans, const layout::Blending& blending);

/// The table that such a one was made of; any other as it is. What stands in it is computed as a document is
/// by itself: in that form a reply to a blended prompt stands in another prompt.
layout::SpanTable unblendedTable(const layout::SpanTable& blended);

/// Says of a blended table, as traces tell of it, what they do not: which segments repeat which, and how.
void restoreBlend(layout::SpanTable& table, const layout::Blending& blending);

}  // namespace spanscope::policy
