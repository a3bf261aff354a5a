// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

namespace spanscope::plan {
namespace {

bool matches(const Draft& node, const RuleSite& /*around*/, const RewriteState& /*state*/) {
  return node.is<query::Map>();
}

/// Terminates: no rule makes new maps.
void rewrite(Draft& node, const RuleSite& /*around*/, RewriteState& state) {
  const DraftSize each = {3, 2 * node.node.size() + node.settings.model.size() + 32};
  if (!state.grow(each, node.inputs.size())) return;
  Draft plus = plusInPlaceOf(node);
  plus.children.reserve(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    Draft message;
    message.op = query::kIndexOf<query::Message>;
    message.node = node.node + "/map/inputs/" + std::to_string(i);
    message.text = std::move(node.inputs[i]);
    plus.children.push_back(generateInPlaceOf(node, std::move(message), state));
  }
  node = std::move(plus);
}

}  // namespace

const Rule kExpandMapRule = {
    .name = "expand map",
    .precondition = "a map",
    .before = "map(\"a\", \"b\")",
    .after = "plus(g(user \"a\"), g(user \"b\"))",
    .reason = "The engine has no bulk form. Each input becomes a step, and the steps form a plus.",
    .writesOut = query::kIndexOf<query::Map>,
    .matches = matches,
    .rewrite = rewrite,
};

}  // namespace spanscope::plan
