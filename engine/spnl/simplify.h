// SPDX-License-Identifier: GPL-3.0-or-later
// The `simplify` of IBM/spnl 0.22, rule for rule. The planner has its own rules (engine/plan/rules). The
// rules here show a query after the reference has rewritten it, for export, comparison and teaching.
//
// One round goes through the tree once:
//  - An empty message, an empty seq and an empty plus are removed from the join around them. If they are a
//    whole input or the whole query, they become an empty seq. If a round empties a longer seq, the empty seq
//    remains; so does an empty cross.
//  - A seq or par with one entry becomes that entry. A seq in a seq is replaced by its entries. A par that
//    contains only plus (also an empty par) becomes one plus.
//  - A plus of two or more generates becomes a map if their settings are equal, each has one message as its
//    input, and all messages have the same role (a role other than user is lost).
//  - A plus that contains only plus is joined by one level. Another plus whose first entry is a seq or a plus
//    takes in the children of this entry and of no other. Any other plus takes in every plus in it.
//  - A cross whose last entry is a cross takes in its children. A par in a par and a cross elsewhere stay.
//  - repeat and map become a plus of generates if the backend has no bulk form. The repeated generate itself
//    does not change.
//  - zip, augment and print, and everything in them, do not change.
// The children before the round decide which rule rewrites a par, plus or cross. Then the children are
// simplified, except those of a join that becomes a map or is joined out of plus.
#pragma once

#include "engine/query/query.h"
#include "engine/spnl/rewritten.h"

namespace spanscope::spnl {

/// One round of simplify. It is no fixed point: joins of several levels need several rounds. A map that was
/// written out because there is no bulk form becomes a map again in the next round.
Rewritten simplifyOnce(query::Node query);

/// The size of a query in memory; see the limits in rewritten.h.
struct Size {
  std::size_t nodes = 0;  ///< each input of a map counts as one
  std::size_t textBytes = 0;
};
Size sizeOf(const query::Node& query);

/// One round over a part of a query; nothing if the query would become too large. `size` is the size of the
/// whole query; the function updates it when it writes something out.
std::optional<query::Node> simplifyPart(query::Node part, Size& size);

/// The error for a query that cannot be rewritten because it exceeds the limits.
Error tooLarge();

}  // namespace spanscope::spnl
