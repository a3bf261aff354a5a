// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/layout/span_table.h"
#include "engine/policy/policy.h"

namespace spanscope::policy {

/// CacheBlend (arXiv 2405.16444): documents are found as they were computed by themselves. The tokens whose
/// keys (or values) deviate most from a full prefill are computed again in full view. The layers before the
/// check layer compute all tokens. From the check layer on, only the chosen tokens are computed, each in view
/// of the prompt up to its own place.
extern const Policy kBlend;

/// A span table in which documents are computed by themselves and stand in the prompt as copies. Some tokens
/// of the copies are computed again. The table begins as `spans`, but everything from the first document up
/// to the last segment is hidden. Then comes a copy of each of these segments that had visible tokens. The
/// copy sees the whole prompt before it. Then comes the last segment, which sees the copies. If nothing
/// stands in a document, the table is `spans` itself.
layout::SpanTable blendedTable(const layout::SpanTable& spans);

}  // namespace spanscope::policy
