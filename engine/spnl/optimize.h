// SPDX-License-Identifier: GPL-3.0-or-later
// The whole optimizer of IBM/spnl 0.22 without retrieval, rule for rule: one pass of distribution, then five
// rounds of simplify.
//
// The pass descends through plus, cross, generate and repeat. It does not change seq, par, monad, zip, map,
// augment and print, or anything in them.
//  - A repeat gets a plus of its own around it.
//  - After the pass through the input of a generate, the input is simplified once. So before the five rounds,
//    a node has had one round for each generate around it.
//  - If the server behind the generate reuses spans and its input is now a seq, the entries of this seq are
//    distributed. A plus that contains only generates becomes, for each generate, its input followed by the
//    generate, whose input then stands under a plus (instead of a seq). A repeat that was not written out,
//    because the backend has a bulk form, becomes a zip of its input and the repeat; the input of this repeat
//    then stands under a plus. In both places of the zip a seq becomes a plus.
#pragma once

#include "engine/query/query.h"
#include "engine/spnl/rewritten.h"

namespace spanscope::spnl {

Rewritten optimize(const query::Node& query);

}  // namespace spanscope::spnl
