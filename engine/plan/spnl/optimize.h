// SPDX-License-Identifier: GPL-3.0-or-later
// The whole optimizer of IBM/spnl 0.22 without retrieval, as its recorded results show it: one pass of
// distribution, then five rounds of simplify.
//
// The pass goes down through plus, cross and generate:
//  - In a seq that is the whole input of a generate whose server reuses spans, each plus of nothing but
//    generates and repeats becomes, for each generate, its input followed by the generate, whose input then
//    stands under a plus.
//  - A repeat that is the whole input of such a generate becomes a plus of its generates, the input of each
//    under a plus.
//  - Any other repeat that is met stands under a plus of its own.
//  - A seq, a par and a message that are met are simplified once (so they have six rounds in all).
//  - Everything else is left alone: monad, zip, map, augment, print, what is repeated.
#pragma once

#include "engine/plan/spnl/rewritten.h"
#include "engine/query/query.h"

namespace spanscope::plan::spnl {

Rewritten optimize(const query::Node& query);

}  // namespace spanscope::plan::spnl
