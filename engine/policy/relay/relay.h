// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// A reply that an outer prompt quotes keeps the keys and values that it was generated with, moved to its
/// place there; the share r of its rows that deviate most in the outer view is computed again. This is the
/// idea of RelayCaching (arXiv 2603.13289): between generating and quoting, keys and values deviate in few
/// layers and at few positions. relay(0) is `--output-form reused`; relay(1) equals the output computed anew.
extern const Policy kRelay;

/// The table of a prompt in which quoted replies stand as they were generated (`reused`), with a copy of each
/// of them behind it that sees what the reply sees where it is computed anew (`anew`: the same prompt laid
/// out with outputs computed anew). A reply gets no copy where both views are the same.
layout::SpanTable relayedTable(const layout::SpanTable& reused, const layout::SpanTable& anew);

}  // namespace spanscope::policy
