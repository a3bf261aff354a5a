// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/whole_runs/smaller_case.h"

#include <utility>
#include <vector>

namespace spanscope::test {
namespace {

using query::Node;
using Change = std::function<void(RunCase&)>;

/// Paths of all nodes below the root, the outer ones first.
void addPaths(const Node& node, const NodePath& path, std::vector<NodePath>& paths) {
  for (const query::ChildRef& child : query::childrenOf(node)) {
    const NodePath below = path + child.step;
    paths.push_back(below);
    addPaths(*child.node, below, paths);
  }
}

std::vector<NodePath> pathsOf(const Node& root) {
  std::vector<NodePath> paths{""};
  addPaths(root, "", paths);
  return paths;
}

/// The replacements of a node: each of its children, or the same node with less in it.
std::vector<Node> lessThan(const Node& node) {
  std::vector<Node> less;
  for (const query::ChildRef& child : query::childrenOf(node)) less.push_back(*child.node);
  if (const auto* join = node.as<query::Join>()) {
    for (std::size_t i = 0; i < join->children.size(); ++i) {
      query::Join fewer = *join;
      fewer.children.erase(fewer.children.begin() + static_cast<std::ptrdiff_t>(i));
      less.push_back({std::move(fewer)});
    }
  } else if (const auto* message = node.as<query::Message>();
             message != nullptr && message->text.size() > 1) {
    less.push_back({query::Message{message->role, "x"}});
    std::size_t half = message->text.size() / 2;
    while (half > 0 && (static_cast<unsigned char>(message->text[half]) & 0xC0U) == 0x80U) --half;
    less.push_back({query::Message{message->role, message->text.substr(0, half)}});
  } else if (const auto* generate = node.as<query::Generate>()) {
    query::Generate shorter = *generate;
    shorter.settings.maxTokens = 1;
    shorter.settings.temperature = 0.0F;
    if (!(shorter == *generate)) less.push_back({shorter});
    shorter.settings.maxTokens = generate->settings.maxTokens;
    if (!(shorter == *generate)) less.push_back({shorter});
  } else if (const auto* repeat = node.as<query::Repeat>()) {
    less.push_back({repeat->generate});
  } else if (const auto* map = node.as<query::Map>(); map != nullptr && map->inputs.size() > 1) {
    query::Map fewer = *map;
    fewer.inputs.pop_back();
    less.push_back({std::move(fewer)});
  }
  return less;
}

/// All changes that make a case smaller or more ordinary by one thing.
std::vector<Change> changesOf(const RunCase& all) {
  std::vector<Change> changes;
  for (std::size_t i = 0; i + 1 < all.runs.size(); ++i) {
    changes.emplace_back([i](RunCase& smaller) {
      smaller.runs.erase(smaller.runs.begin() + static_cast<std::ptrdiff_t>(i));
      smaller.runs.front().isFirstOfSession = true;
    });
  }
  const SessionChoice plain;
  const auto set = [&](auto member, auto value) {
    changes.emplace_back([member, value](RunCase& smaller) { smaller.warm.*member = value; });
  };
  set(&SessionChoice::blocks, roomyBlocks(all.warm.blockSize));
  set(&SessionChoice::threads, plain.threads);
  set(&SessionChoice::halfKeys, plain.halfKeys);
  set(&SessionChoice::tails, plain.tails);
  set(&SessionChoice::tiers, plain.tiers);
  if (all.warm.tiers != Tiers::None) set(&SessionChoice::tiers, Tiers::Host);
  set(&SessionChoice::rowsPerPass, plain.rowsPerPass);
  set(&SessionChoice::endings, Endings::None);
  set(&SessionChoice::positions, plain.positions);
  set(&SessionChoice::family, plain.family);
  changes.emplace_back([](RunCase& smaller) {
    smaller.coldThreads = 1;
    smaller.coldRowsPerPass = 512;
  });
  for (std::size_t i = 0; i < all.runs.size(); ++i) {
    const QueryRun ordinary;
    const auto reset = [&, i](auto member) {
      changes.emplace_back(
          [i, member, value = ordinary.*member](RunCase& smaller) { smaller.runs[i].*member = value; });
    };
    reset(&QueryRun::policy);
    reset(&QueryRun::layout);
    reset(&QueryRun::outputForm);
    reset(&QueryRun::distribute);
    reset(&QueryRun::fanIn);
    reset(&QueryRun::mapReduce);
    reset(&QueryRun::seed);
    reset(&QueryRun::topK);
    reset(&QueryRun::topP);
    reset(&QueryRun::observed);
    if (i > 0) reset(&QueryRun::isFirstOfSession);
    reset(&QueryRun::isCacheEmptied);
    reset(&QueryRun::emptyEvery);
    reset(&QueryRun::stopAfter);
    reset(&QueryRun::isReplayed);
    reset(&QueryRun::isPredictedAhead);
    for (const NodePath& path : pathsOf(all.runs[i].query)) {
      for (const Node& less : lessThan(*query::nodeAt(all.runs[i].query, path))) {
        changes.emplace_back([i, path, less](RunCase& smaller) {
          // A copy first: it may be a part of what it takes the place of.
          Node copy = less;
          *query::nodeAt(smaller.runs[i].query, path) = std::move(copy);
        });
      }
    }
  }
  return changes;
}

}  // namespace

RunCase smallerCase(RunCase failing, const std::function<bool(const RunCase&)>& stillFails, int tries) {
  bool hasChanged = true;
  while (hasChanged && tries > 0) {
    hasChanged = false;
    std::size_t next = 0;
    for (std::vector<Change> changes = changesOf(failing); next < changes.size() && tries > 0; ++next) {
      RunCase smaller = failing;
      changes[next](smaller);
      if (smaller == failing) continue;
      --tries;
      if (!stillFails(smaller)) continue;
      failing = std::move(smaller);
      hasChanged = true;
      // Changes name places of the case as it was; those of runs before this one may be others now.
      changes = changesOf(failing);
      if (next >= changes.size()) break;
    }
  }
  return failing;
}

}  // namespace spanscope::test
