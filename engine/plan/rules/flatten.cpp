// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

#include <algorithm>
#include <iterator>

namespace spanscope::plan {
namespace {

bool isPlus(const Draft& draft) {
  return draft.isJoin(query::JoinKind::Plus);
}

/// seq, par and cross lay their children out where they stand.
bool isRun(const Draft& draft) {
  return draft.kind == Draft::Kind::Join && !isPlus(draft);
}

bool isEmpty(const Draft& draft) {
  if (draft.kind == Draft::Kind::Message) return draft.text.empty();
  return draft.kind == Draft::Kind::Join && draft.children.empty();
}

/// A run of one is its entry. A plus of one is not: it opens a scope.
bool isRunOfOne(const Draft& draft) {
  return isRun(draft) && draft.children.size() == 1;
}

/// Whether a child's own children may stand in its place. A cross is special to some layouts before its last
/// child, so only there another cross can be taken in.
bool isTakenIn(const Draft& parent, const Draft& child, bool last) {
  if (child.kind != Draft::Kind::Join || child.join != parent.join) return false;
  return parent.join != query::JoinKind::Cross || last;
}

bool matches(const Draft& node, const Surroundings& /*around*/, const RewriteState& /*state*/) {
  if (node.kind != Draft::Kind::Join) {
    return std::any_of(node.children.begin(), node.children.end(), isRunOfOne);
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Draft& child = node.children[i];
    if (isEmpty(child) || isRunOfOne(child) || isTakenIn(node, child, i + 1 == node.children.size()))
      return true;
  }
  return false;
}

void replaceByEntry(Draft& draft) {
  while (isRunOfOne(draft)) {
    Draft entry = std::move(draft.children.front());
    draft = std::move(entry);
  }
}

void rewrite(Draft& node, const Surroundings& /*around*/, RewriteState& /*state*/) {
  for (Draft& child : node.children) replaceByEntry(child);
  if (node.kind != Draft::Kind::Join) return;
  std::erase_if(node.children, isEmpty);
  std::vector<Draft> flat;
  flat.reserve(node.children.size());
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    Draft& child = node.children[i];
    if (isTakenIn(node, child, i + 1 == node.children.size())) {
      std::move(child.children.begin(), child.children.end(), std::back_inserter(flat));
    } else {
      flat.push_back(std::move(child));
    }
  }
  node.children = std::move(flat);
}

}  // namespace

const Rule kFlattenRule = {"flatten",
                           "Joins within joins of the same kind, joins of one entry and empty ones say "
                           "nothing: without them the other rules "
                           "see what stands under what.",
                           matches, rewrite};

}  // namespace spanscope::plan
