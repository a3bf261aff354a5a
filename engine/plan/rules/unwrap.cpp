// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

#include <algorithm>

namespace spanscope::plan {
namespace {

/// Whether the node is a run of one entry. Such an entry can replace the run. A plus of one entry stays,
/// because it opens a scope.
bool isRunOfOne(const Draft& draft) {
  return draft.is<query::Join>() && draft.join != query::JoinKind::Plus && draft.children.size() == 1;
}

bool matches(const Draft& node, const RuleSite& /*around*/, const RewriteState& /*state*/) {
  return std::ranges::any_of(node.children, isRunOfOne);
}

/// Terminates: the number of nodes decreases.
void rewrite(Draft& node, const RuleSite& /*around*/, RewriteState& /*state*/) {
  for (Draft& child : node.children) {
    while (isRunOfOne(child)) {
      Draft entry = std::move(child.children.front());
      child = std::move(entry);
    }
  }
}

}  // namespace

const Rule kUnwrapRule = {
    .name = "unwrap",
    .precondition = "a seq, par or cross with one child is in another node",
    .before = "g(seq(a))",
    .after = "g(a)",
    .reason =
        "A join with one child has no effect. After its removal, other rules work on the real structure.",
    .matches = matches,
    .rewrite = rewrite,
};

}  // namespace spanscope::plan
