// SPDX-License-Identifier: GPL-3.0-or-later
// Reproduces the whole optimizer of IBM/spnl 0.22 without retrieval, rule for rule. The optimizer has one
// pass of distribution, then five rounds of simplify. Open this file when a rewritten query differs from
// SPNL's.
//
// The pass descends through plus, cross, generate and repeat. It does not change seq, par, monad, zip, map,
// augment and print, or anything in them.
// - A repeat gets a plus of its own around it.
// - After the pass through the input of a generate, the input is simplified once. Before the five rounds, a
//   node has therefore had one round for each generate around it.
// - If the generate's server reuses spans and its input is now a seq, the entries of this seq are
//   distributed.
// - A plus that contains only generates becomes, for each generate, its input followed by the generate. The
//   input of this generate is then under a plus, not under a seq.
// - A repeat with a bulk form in the backend becomes a zip of its input and the repeat. The input of this
//   repeat is then under a plus. In both places of the zip, a seq becomes a plus.
#pragma once

#include "engine/base/error.h"
#include "engine/query/query.h"

#include <cstddef>
#include <optional>

namespace spanscope::spnl {

/// Max number of nodes of a query after its repeats and maps are written out.
inline constexpr std::size_t kMaxNodes = 1'000'000;
/// Max number of bytes of text in it.
inline constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20U;

/// A query after rewriting. If the query would exceed the limits, there is a problem instead.
struct Rewritten {
  std::optional<query::Node> query;
  std::optional<Error> problem;  ///< set only if there is no query
};

Rewritten optimize(const query::Node& query);

// The `simplify` of IBM/spnl 0.22, rule for rule. The planner has its own rules (engine/plan/rules). These
// rules show a query as IBM/spnl rewrites it, for export, comparison and teaching.
//
// One round goes through the tree once:
// - An empty message, an empty seq and an empty plus are removed from the join around them. If they are a
//   whole input or the whole query, they become an empty seq.
// - If a round empties a longer seq, the empty seq remains. An empty cross remains too.
// - A seq or par with one entry becomes that entry. A seq in a seq is replaced by its entries. A par that
//   contains only plus (also an empty par) becomes one plus.
// - A plus of two or more generates becomes a map under three conditions. Their settings are equal, each has
//   one message as its input, and all messages have the same role. A role other than user is lost.
// - A plus that contains only plus is joined by one level. Another plus whose first entry is a seq or a plus
//   takes in the children of only this entry. Any other plus takes in every plus in it.
// - A cross whose last entry is a cross takes in its children. A par in a par and a cross elsewhere stay.
// - A repeat or map becomes a plus of generates if the backend has no bulk form. The repeated generate does
//   not change.
// - A zip, augment or print, and everything in it, does not change.
//
// The children before the round decide which rule rewrites a par, plus or cross. Then the children are
// simplified. Exceptions are the children of a join that becomes a map or is joined out of plus.

/// Does one round of simplify. One round reaches no fixed point: joins of several levels need several rounds.
/// A map that was written out for lack of a bulk form becomes a map again in the next round.
Rewritten simplifyOnce(query::Node query);

/// The size of a query in memory; see the limits in optimize.h.
struct Size {
  std::size_t nodes = 0;  ///< nodes; each input of a map counts as one node
  std::size_t textBytes = 0;
};
Size sizeOf(const query::Node& query);

/// Does one round over a subtree of a query. Returns nothing if the query would exceed the limits. `size` is
/// the size of the whole query. The function updates it when it writes something out.
std::optional<query::Node> simplifyPart(query::Node part, Size& size);

/// Returns the error for a query that exceeds the limits of rewriting.
Error tooLarge();

}  // namespace spanscope::spnl
