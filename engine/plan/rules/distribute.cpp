// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

#include <algorithm>

namespace spanscope::plan {
namespace {

/// A model cannot use keys and values of another model. A subquery result therefore needs the same model in
/// both queries. A judge of attention locality gives only its answer to the outer prompt. With the prompt of
/// the judge, the outer prompt would not get shorter.
bool becomesSubqueryResult(const Draft& child, const DraftSettings& enclosing) {
  return child.is<query::Generate>() && child.form != OutputForm::Continuation &&
         child.mark != Draft::Mark::AnswerOnly && child.settings.model == enclosing.model;
}

bool matches(const Draft& node, const RuleSite& around, const RewriteState& /*state*/) {
  if (around.enclosing == nullptr || !node.isJoin(query::JoinKind::Plus)) return false;
  return std::ranges::any_of(
      node.children, [&](const Draft& child) { return becomesSubqueryResult(child, *around.enclosing); });
}

/// Terminates: no rule reverses a subquery result.
void rewrite(Draft& node, const RuleSite& around, RewriteState& /*state*/) {
  for (Draft& child : node.children) {
    if (becomesSubqueryResult(child, *around.enclosing)) child.form = OutputForm::Continuation;
  }
}

}  // namespace

const Rule kDistributeRule = {
    .name = "distribute plus",
    .precondition =
        "a generate node is a child of a plus in the input of another generate node on the same model",
    .before = "g(plus(g(a)))",
    .after = "g(plus((a, reply)))",
    .reason =
        /*id:outer-prompt-holds*/
    "The outer prompt contains the prompt and the answer of the subquery as one scope. The outer step "
    "therefore reuses everything that the subquery computed.",
    .meaning = Meaning::ChangesPrompts,
    .matches = matches,
    .rewrite = rewrite,
};

}  // namespace spanscope::plan
