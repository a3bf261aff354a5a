// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

#include <algorithm>

namespace spanscope::plan {
namespace {

/// Nothing in it is still to be rewritten by the rules that decide what its elements are.
bool isSettled(const Draft& draft, const Surroundings& around, const RewriteState& state) {
  if (draft.kind == Draft::Kind::Repeat || draft.kind == Draft::Kind::Map || draft.kind == Draft::Kind::Zip) {
    return false;
  }
  if (kFlattenRule.matches(draft, around, state)) return false;
  return std::all_of(draft.children.begin(), draft.children.end(),
                     [&](const Draft& child) { return isSettled(child, around, state); });
}

bool matches(const Draft& node, const Surroundings& around, const RewriteState& state) {
  if (node.kind != Draft::Kind::Zip || kFlattenRule.matches(node, around, state)) return false;
  return isSettled(node.children[0], around, state) && isSettled(node.children[1], around, state);
}

/// `first` is copied with its calls: its generates run once and their output stands in every place.
void rewrite(Draft& node, const Surroundings& /*around*/, RewriteState& state) {
  const Draft first = std::move(node.children[0]);
  Draft second = std::move(node.children[1]);
  Draft join;
  join.node = node.node;
  std::vector<Draft> elements;
  if (second.kind == Draft::Kind::Join) {
    join.join = second.join;
    elements = std::move(second.children);
  } else {
    join.join = query::JoinKind::Seq;
    elements.push_back(std::move(second));
  }

  const auto takesFirst = [](const Draft& element) {
    return element.kind != Draft::Kind::Print && element.kind != Draft::Kind::Monad;
  };
  const auto times = static_cast<std::size_t>(std::count_if(elements.begin(), elements.end(), takesFirst));
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

const Rule kZipRule = {"zip",
                       "What is repeated before every element is written out, so that each prompt is whole.",
                       matches, rewrite};

}  // namespace spanscope::plan
