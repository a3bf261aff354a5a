// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/generates.h"

namespace spanscope::plan {

Draft plusInPlaceOf(const Draft& node) {
  Draft plus;
  plus.node = node.node;
  plus.join = query::JoinKind::Plus;
  return plus;
}

Draft generateInPlaceOf(const Draft& node, Draft input, RewriteState& state) {
  Draft generate;
  generate.op = query::kIndexOf<query::Generate>;
  generate.node = node.node;
  generate.settings = node.settings;
  generate.form = node.form;
  generate.call = state.newCall();
  generate.children.push_back(std::move(input));
  return generate;
}

void giveOwnCalls(Draft& draft, RewriteState& state) {
  if (draft.is<query::Generate>()) draft.call = state.newCall();
  for (Draft& child : draft.children) giveOwnCalls(child, state);
}

}  // namespace spanscope::plan
