// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

#include <algorithm>

namespace spanscope::plan {
namespace {

/// Whether the draft is a message, or a join that contains only messages.
bool isPassage(const Draft& draft) {
  if (draft.is<query::Message>()) return !draft.text.empty();
  return draft.is<query::Join>() && !draft.children.empty() && std::ranges::all_of(draft.children, isPassage);
}

bool matches(const Draft& node, const RuleSite& around, const RewriteState& /*state*/) {
  return around.enclosing != nullptr && node.isJoin(query::JoinKind::Plus) &&
         node.mark == Draft::Mark::None && !node.children.empty() &&
         std::ranges::all_of(node.children, isPassage);
}

/// Terminates: the plus is marked, and a marked plus is not prepared again.
void rewrite(Draft& node, const RuleSite& around, RewriteState& state) {
  DraftSize size = sizeOf(node);
  size.nodes += node.children.size() + 3;
  if (!state.grow(size, 1)) return;

  Draft steps = plusInPlaceOf(node);
  for (const Draft& passage : node.children) {
    Draft like;
    like.node = passage.node;
    like.settings = {around.enclosing->model, 1, 0.0F};
    steps.children.push_back(generateInPlaceOf(like, passage, state));
  }
  Draft monad;
  monad.op = query::kIndexOf<query::Monad>;
  monad.node = node.node;
  monad.children.push_back(std::move(steps));

  Draft seq;
  seq.node = node.node;
  seq.join = query::JoinKind::Seq;
  node.mark = Draft::Mark::Done;
  seq.children.push_back(std::move(monad));
  seq.children.push_back(std::move(node));
  node = std::move(seq);
}

}  // namespace

const Rule kPrepareRule = {
    .name = "prepare passages",
    .precondition = "a plus of messages in the input of a generate node",
    .before = "plus(a, b)",
    .after = "seq(monad(plus(g1(a), g1(b))), plus(a, b))",
    .reason =
        "Some targets cache whole prompts only. Each passage is first computed alone, so the passage is a "
        "hit at every position.",
    .meaning = Meaning::Kept,
    .byDefault = Default::Off,
    .matches = matches,
    .rewrite = rewrite,
};

}  // namespace spanscope::plan
