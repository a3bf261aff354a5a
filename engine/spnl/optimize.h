// SPDX-License-Identifier: GPL-3.0-or-later
// The whole optimizer of IBM/spnl 0.22 without retrieval, rule for rule: one pass of distribution, then five
// rounds of simplify.
//
// The pass goes down through plus, cross, generate and repeat and leaves everything else as it stands: seq,
// par, monad, zip, map, augment and print, with all that is in them.
//  - A repeat stands under a plus of its own.
//  - The input of a generate is simplified once, after the pass has been over it: one round for each generate
//    around a node, before the five.
//  - If the server behind the generate reuses spans and its input is a seq then, what stands in that seq is
//    distributed. A plus of nothing but generates becomes, for each of them, its input followed by the
//    generate, whose input then stands under a plus (in place of a seq). A repeat, which was not written out
//    and so has a bulk form, becomes a zip of its input and the repeat, whose input then stands under a plus;
//    in both places a seq becomes a plus.
#pragma once

#include "engine/query/query.h"
#include "engine/spnl/rewritten.h"

namespace spanscope::spnl {

Rewritten optimize(const query::Node& query);

}  // namespace spanscope::spnl
