// SPDX-License-Identifier: GPL-3.0-or-later
// The `simplify` of IBM/spnl 0.22, rule for rule. The planner has rules of its own (engine/plan/rules); these
// are what a query looks like after the reference has had it, for export, comparison and teaching.
//
// One round goes over the tree once:
//  - An empty message, an empty seq and an empty plus vanish from the join around them; as the whole of an
//    input or of the query they become an empty seq. An empty seq that a round leaves of a longer one, and an
//    empty cross, are still there.
//  - A seq or par of one entry is that entry; a seq in a seq is taken in; a par of nothing but plus (an empty
//    one, too) is one plus.
//  - A plus of two or more generates with equal settings, each over one message and all of one role, becomes
//    a map (a role other than user is lost).
//  - A plus of nothing but plus is joined by one level; a plus whose first entry is a seq or a plus takes in
//    that entry's children and no others; else a plus in a plus is taken in.
//  - A cross whose last entry is a cross takes in its children. A par in a par and a cross elsewhere stay.
//  - repeat and map become a plus of generates where the backend has no bulk form; what is repeated is left
//    alone.
//  - zip, augment and print are left alone, and what stands in them.
// Which of these a par, plus or cross is rewritten by is decided by its children as they stand; they are
// simplified afterwards, but for those of a join that becomes a map or is joined out of plus.
#pragma once

#include "engine/query/query.h"
#include "engine/spnl/rewritten.h"

namespace spanscope::spnl {

/// One round of simplify. It is no fixed point: joins of several levels take several rounds, and a map that
/// was written out for want of a bulk form is put together again by the next.
Rewritten simplifyOnce(query::Node query);

/// What a query comes to in memory; see the limits in rewritten.h.
struct Size {
  std::size_t nodes = 0;  ///< each input of a map is one
  std::size_t textBytes = 0;
};
Size sizeOf(const query::Node& query);

/// One round over a part of a query; nothing if it would become too large. `size` is that of the whole query
/// and follows what is written out.
std::optional<query::Node> simplifyPart(query::Node part, Size& size);

/// Why a query past the limits cannot be rewritten.
Error tooLarge();

}  // namespace spanscope::spnl
