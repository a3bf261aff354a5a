// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

#include <algorithm>

namespace spanscope::plan {
namespace {

bool isEmpty(const Draft& draft) {
  if (draft.is<query::Message>()) return isSilent(draft);
  return draft.is<query::Join>() && draft.children.empty();
}

bool matches(const Draft& node, const RuleSite& /*around*/, const RewriteState& /*state*/) {
  return node.is<query::Join>() && std::ranges::any_of(node.children, isEmpty);
}

/// Terminates: the number of nodes decreases.
void rewrite(Draft& node, const RuleSite& /*around*/, RewriteState& /*state*/) {
  std::erase_if(node.children, isEmpty);
}

}  // namespace

const Rule kDropEmptyRule = {
    .name = "drop empty",
    .precondition = "a join contains a user or assistant message without text, or a join without children",
    .before = "seq(a, user \"\", plus())",
    .after = "seq(a)",
    .reason =
        "Nodes without tokens have no effect. After their removal, other rules work on the real structure. A "
        "system message without text remains, because the chat template decides its meaning.",
    .matches = matches,
    .rewrite = rewrite,
};

}  // namespace spanscope::plan
