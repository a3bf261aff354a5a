// SPDX-License-Identifier: GPL-3.0-or-later
// Reproduces the whole optimizer of IBM/spnl 0.22 without retrieval, rule for rule. The optimizer distributes
// plus once, then does five rounds of simplify. Open this file when a rewritten query differs from SPNL's.
//
// The distribution descends through plus, cross, generate and repeat. The distribution does not change seq,
// par, monad, zip, map, augment and print, or their descendants.
// - Each repeat becomes the only child of a new plus.
// - After the distribution in the input of a generate node, this input is simplified once. So a node is
//   simplified once for each generate node above the node, before the five rounds begin.
// - If the server of a generate node reuses spans and the input is a seq, its entries are distributed.
// - In a plus that contains only generate nodes, a plus replaces each node. This plus has two children: the
//   input, then the node. The input of this generate node is then under a plus, not under a seq.
// - A repeat with a bulk form in the backend becomes a zip of its input and the repeat. The input of this
//   repeat is then under a plus. In both children of the zip, a seq becomes a plus.
#pragma once

#include "engine/base/error.h"
#include "engine/query/query.h"

#include <cstddef>
#include <optional>

namespace spanscope::spnl {

/// Max number of nodes of a query after its repeats and maps are written out.
inline constexpr std::size_t kMaxNodes = 1'000'000;
/// Max number of bytes of text in such a query.
inline constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20U;

/// A query after rewriting. If the query would exceed the limits, there is a problem instead.
struct Rewritten {
  std::optional<query::Node> query;
  std::optional<Error> problem;  ///< set only if there is no query
};

Rewritten optimize(const query::Node& query);

// The `simplify` of IBM/spnl 0.22, rule for rule. The planner has its own rules (engine/plan/rules). The
// rules here rewrite a query as IBM/spnl does, for export, comparison and teaching.
//
// One round goes through the tree once:
// - An empty message, an empty seq and an empty plus are removed from their parent join. If such a node is
//   the whole input or the whole query, the node becomes an empty seq.
// - If a round empties a longer seq, the empty seq remains. An empty cross remains too.
// - A seq or par with one entry becomes that entry. A seq in a seq is replaced by its entries. A par that
//   contains only plus (also an empty par) becomes one plus.
// - A plus of two or more generate nodes becomes a map if all settings are equal. Then each input is one
//   message, and all messages have the same role. A role other than user is lost.
// - If all children of a plus are plus, each child is replaced by its children. Otherwise, if the first child
//   is a seq or a plus, only this child is replaced by its children. In any other plus, every child that is a
//   plus is replaced by its children.
// - If the last child of a cross is a cross, this child is replaced by its children. A par in a par and a
//   cross elsewhere do not change.
// - A repeat or map becomes a plus of generate nodes if the backend has no bulk form. The repeated generate
//   node does not change.
// - A zip, augment or print does not change, nor do its descendants.
//
// The rule for a par, plus or cross depends on the children before the round. After the rule, the children
// are simplified. Exceptions: children are not simplified if their join becomes a map, or if all children of
// the join are plus.

/// Does one round of simplify. One round reaches no fixed point: joins of several levels need several rounds.
/// A backend without a bulk form makes a round write out each map. The next round makes a map of the result.
Rewritten simplifyOnce(query::Node query);

/// The size of a query in memory; see the limits in optimize.h.
struct Size {
  std::size_t nodes = 0;  ///< nodes; each input of a map counts as one node
  std::size_t textBytes = 0;
};
Size sizeOf(const query::Node& query);

/// Does one round over a subtree of a query. Returns nothing if the query would exceed the limits. `size` is
/// the size of the whole query. The function updates `size` when the function writes out a repeat or map.
std::optional<query::Node> simplifyPart(query::Node part, Size& size);

/// Returns the error for a query that exceeds the limits of rewriting.
Error tooLarge();

}  // namespace spanscope::spnl
