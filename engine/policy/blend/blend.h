// SPDX-License-Identifier: GPL-3.0-or-later
// Declares the policy `blend` and its span table. Open this file to change which tokens `blend` recomputes.
#pragma once

#include "engine/layout/span_table.h"
#include "engine/policy/policy.h"

namespace spanscope::policy {

/// CacheBlend (arXiv 2405.16444): documents are reused with the keys and values from their computation alone.
/// The tokens whose keys (or values) deviate most from a full prefill are recomputed with the full prompt.
/// The layers before the check layer compute all tokens. From the check layer on, only the chosen tokens are
/// computed. Each chosen token attends to the prompt up to its own position.
extern const Policy kBlend;

/// Returns a span table in which documents are computed alone and are in the prompt as copies. Some tokens of
/// the copies are recomputed. The table has these segments in order:
/// - the segments of `spans`, hidden from the first document up to the last segment;
/// - a copy of each hidden segment that had visible tokens. The copy attends to the whole prompt before it;
/// - the last segment, which attends to the copies.
///
/// If no document has tokens, the table is `spans`.
layout::SpanTable blendedTable(const layout::SpanTable& spans);

}  // namespace spanscope::policy
