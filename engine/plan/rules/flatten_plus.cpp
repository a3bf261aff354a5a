// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

#include <algorithm>

namespace spanscope::plan {
namespace {

bool isPlus(const Draft& draft) {
  return draft.isJoin(query::JoinKind::Plus);
}

bool matches(const Draft& node, const RuleSite& /*around*/, const RewriteState& /*state*/) {
  return isPlus(node) && std::ranges::any_of(node.children, isPlus);
}

/// Terminates: the number of nodes decreases.
void rewrite(Draft& node, const RuleSite& /*around*/, RewriteState& /*state*/) {
  takeIn(node, [](const Draft& child, bool /*last*/) { return isPlus(child); });
}

}  // namespace

const Rule kFlattenPlusRule = {
    .name = "flatten plus",
    .precondition = "a plus is a child of a plus",
    .before = "plus(plus(a, b), c)",
    .after = "plus(a, b, c)",
    .reason =
        "The inner plus has no effect. Each child of a plus attends only to itself, with or without the "
        "inner plus.",
    .matches = matches,
    .rewrite = rewrite,
};

}  // namespace spanscope::plan
