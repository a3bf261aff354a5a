// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

namespace spanscope::plan {
namespace {

bool matches(const Draft& node, const RuleSite& /*around*/, const RewriteState& /*state*/) {
  return node.is<query::Repeat>();
}

/// Terminates: no rule makes new repeats, and inner repeats are expanded first.
void rewrite(Draft& node, const RuleSite& /*around*/, RewriteState& state) {
  if (!state.grow(sizeOf(node), node.count)) return;
  Draft plus = plusInPlaceOf(node);
  plus.children.reserve(node.count);
  for (std::uint32_t copy = 0; copy < node.count; ++copy) {
    Draft input = node.input();
    giveOwnCalls(input, state);
    plus.children.push_back(generateInPlaceOf(node, std::move(input), state));
  }
  node = std::move(plus);
}

}  // namespace

const Rule kExpandRepeatRule = {
    .name = "expand repeat",
    .precondition = "a repeat",
    .before = "repeat 2(a)",
    .after = "plus(g(a), g(a))",
    .reason = "The engine has no bulk form. Each copy becomes a step, and the steps form a plus.",
    .writesOut = query::kIndexOf<query::Repeat>,
    .matches = matches,
    .rewrite = rewrite,
};

}  // namespace spanscope::plan
