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

#include "engine/base/error.h"
#include "engine/query/query.h"

#include <cstddef>
#include <optional>

namespace spanscope::spnl {

/// Most nodes of a query after its repeats and maps are written out.
inline constexpr std::size_t kMaxNodes = 1'000'000;
/// Most bytes of text in it.
inline constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20U;

/// A query after rewriting. If the query would have become too large, there is a problem instead.
struct Rewritten {
  std::optional<query::Node> query;
  std::optional<Error> problem;  ///< set if and only if there is no query
};

Rewritten optimize(const query::Node& query);

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

/// One round of simplify. It is no fixed point: joins of several levels need several rounds. A map that was
/// written out because there is no bulk form becomes a map again in the next round.
Rewritten simplifyOnce(query::Node query);

/// The size of a query in memory; see the limits in optimize.h.
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
