// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

namespace spanscope::plan {
namespace {

/// Whether a child's own children may replace the child. Some layouts put a delimiter before the last child
/// of a cross. A cross in a cross is therefore replaced only if it is the last child.
bool isTakenIn(const Draft& parent, const Draft& child, bool last) {
  if (parent.join == query::JoinKind::Plus || !child.isJoin(parent.join)) return false;
  return parent.join != query::JoinKind::Cross || last;
}

bool matches(const Draft& node, const RuleSite& /*around*/, const RewriteState& /*state*/) {
  if (!node.is<query::Join>()) return false;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    if (isTakenIn(node, node.children[i], i + 1 == node.children.size())) return true;
  }
  return false;
}

/// Terminates: the number of nodes decreases. If the last child was an empty cross, the entry before it
/// becomes the last one.
void rewrite(Draft& node, const RuleSite& around, RewriteState& state) {
  while (matches(node, around, state)) {
    takeIn(node, [&node](const Draft& child, bool last) { return isTakenIn(node, child, last); });
  }
}

}  // namespace

const Rule kFlattenRule = {
    .name = "flatten",
    .precondition = "a seq in a seq, a par in a par, or a cross as last child of a cross",
    .before = "seq(seq(a, b), c)",
    .after = "seq(a, b, c)",
    .reason =
        "A join inside a join of the same kind has no effect. After its removal, other rules work on the "
        "real structure.",
    .matches = matches,
    .rewrite = rewrite,
};

}  // namespace spanscope::plan
