// SPDX-License-Identifier: GPL-3.0-or-later
// Declares the policy `relay` and its span table. Open this file to change how quoted answers are reused.
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// An answer that an outer prompt quotes keeps the keys and values from its generation, at its new position.
/// The fraction r of its rows that deviates most in the outer prompt is recomputed. The idea comes from
/// RelayCaching (arXiv 2603.13289). Between generation and quotation, keys and values deviate in few layers
/// and at few positions. `relay(0)` is `--output-form reused`. `relay(1)` equals a recomputed output.
extern const Policy kRelay;

/// Returns the span table of a prompt that quotes answers. The first table, `reused`, has the answers as they
/// were generated. The second table has the same prompt with recomputed outputs. The result is `reused` with
/// a copy after each answer. The copy attends to the segments that the answer attends to in the second table.
/// If these segments are the same in both tables, the answer gets no copy.
layout::SpanTable relayedTable(const layout::SpanTable& reused, const layout::SpanTable& recomputed);

}  // namespace spanscope::policy
