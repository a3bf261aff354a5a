// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

#include <algorithm>
#include <array>

namespace spanscope::plan {
namespace {

/// Whether the elements are known, because the rules that determine the elements have been applied.
bool isSettled(const Draft& draft) {
  if (draft.info().resolvedBy == query::ResolvedBy::Rule) return false;
  return std::ranges::all_of(draft.children, isSettled);
}

/// Makes the elements independent of the rules that are on: removes empty entries, and flattens joins within
/// joins.
void tidy(Draft& draft, RewriteState& state) {
  for (Draft& child : draft.children) tidy(child, state);
  for (const Rule* rule : std::array{&kDropEmptyRule, &kUnwrapRule, &kFlattenRule, &kFlattenPlusRule}) {
    if (rule->matches(draft, {}, state)) rule->rewrite(draft, {}, state);
  }
}

bool matches(const Draft& node, const RuleSite& /*around*/, const RewriteState& /*state*/) {
  return node.is<query::Zip>() && isSettled(node.children[0]) && isSettled(node.children[1]);
}

/// A draft without tokens is not an element.
bool takesFirst(const Draft& element) {
  return !givesNothing(element);
}

/// `first` is copied with its call numbers. Each generate node in `first` thus runs once, and every place
/// uses its output. Terminates: no rule makes new zips.
void rewrite(Draft& node, const RuleSite& /*around*/, RewriteState& state) {
  tidy(node, state);
  const Draft first = std::move(node.children[0]);
  Draft second = std::move(node.children[1]);
  Draft join;
  join.node = node.node;
  std::vector<Draft> elements;
  if (second.is<query::Join>()) {
    join.join = second.join;
    elements = std::move(second.children);
  } else {
    join.join = query::JoinKind::Seq;
    elements.push_back(std::move(second));
  }

  const auto times = static_cast<std::size_t>(std::ranges::count_if(elements, takesFirst));
  DraftSize each = sizeOf(first);
  ++each.nodes;
  if (!state.grow(each, times)) return;
  for (Draft& element : elements) {
    if (!takesFirst(element)) {
      join.children.push_back(std::move(element));
    } else if (first.isJoin(query::JoinKind::Plus)) {
      Draft group = first;
      group.node = node.node;
      group.children.push_back(std::move(element));
      join.children.push_back(std::move(group));
    } else {
      join.children.push_back(first);
      join.children.push_back(std::move(element));
    }
  }
  node = std::move(join);
}

}  // namespace

const Rule kZipRule = {
    .name = "zip",
    .precondition = "a zip with known elements: it contains no repeat, map or zip",
    .before = "zip(a, seq(b, c))",
    .after = "seq(a, b, a, c)",
    .reason = "The repeated part is written before every element, so that each prompt is complete.",
    .writesOut = query::kIndexOf<query::Zip>,
    .matches = matches,
    .rewrite = rewrite,
};

}  // namespace spanscope::plan
