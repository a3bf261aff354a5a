// SPDX-License-Identifier: GPL-3.0-or-later
// The `simplify` of IBM/spnl 0.22, rule for rule, as its recorded results show it. The planner has rules of
// its own (engine/plan/rules); these are what a query looks like after the reference has had it, for export,
// comparison and teaching.
//
// One round goes over the tree once:
//  - An empty message and an empty plus become an empty seq, which vanishes from the join around it.
//  - A seq or par of one entry is that entry; a seq in a seq is taken in; a par of nothing but plus is one
//    plus.
//  - A plus of two or more generates with equal settings, each over one message and all of one role, becomes
//  a
//    map (a role other than user is lost).
//  - A plus of nothing but plus is joined by one level and left alone below; a plus whose first entry is a
//  seq
//    or a plus takes in that entry's children and no others; else a plus in a plus is taken in.
//  - A cross whose last entry is a cross takes in its children. A par in a par and a cross elsewhere stay.
//  - repeat and map become a plus of generates where the backend has no bulk form; what is repeated is left
//    alone.
//  - zip, augment and print are left alone, and what stands in them.
#pragma once

#include "engine/plan/spnl/rewritten.h"
#include "engine/query/query.h"

namespace spanscope::plan::spnl {

/// One round of simplify. It is no fixed point: joins of several levels take several rounds, and a map that
/// was written out for want of a bulk form is put together again by the next.
Rewritten simplifyOnce(query::Node query);

}  // namespace spanscope::plan::spnl
