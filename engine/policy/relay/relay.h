// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// A reply that an outer prompt quotes keeps the keys and values with which it was generated, moved to its
/// place in that prompt. The share r of its rows that deviate most in the outer view is computed again. This
/// is the idea of RelayCaching (arXiv 2603.13289): between generating and quoting, keys and values deviate in
/// few layers and at few positions. relay(0) is `--output-form reused`; relay(1) equals the output computed
/// anew.
extern const Policy kRelay;

/// The span table of a prompt that quotes replies. In `reused`, the replies stand as they were generated.
/// `anew` is the same prompt laid out with outputs computed anew. The table is `reused` with a copy behind
/// each reply. The copy sees what the reply sees in `anew`. A reply gets no copy if both views are the same.
layout::SpanTable relayedTable(const layout::SpanTable& reused, const layout::SpanTable& anew);

}  // namespace spanscope::policy
