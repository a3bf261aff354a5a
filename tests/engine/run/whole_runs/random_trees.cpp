// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/whole_runs/random_trees.h"

#include <algorithm>
#include <array>
#include <utility>

namespace spanscope::test {

using query::JoinKind;
using query::Node;

namespace {

constexpr int kMostGenerates = 5;
constexpr int kMostNodesOfAPart = 8;

/// Words, marks of the padded and cropped layouts, and characters of several tokens.
constexpr std::array kWords = {"Mira",   "lives", "in",  "Lisbon", "and",     "plays", "the",
                               "cello.", "+",     "@",   "<",      "a+b",     "é",     "日本",
                               "why?",   "the",   "pet", "is",     "Biscuit", "\n"};

int generatesIn(const Node& node) {
  int count = node.as<query::Generate>() != nullptr ? 1 : 0;
  if (const auto* repeat = node.as<query::Repeat>())
    count += static_cast<int>(std::get<std::uint8_t>(repeat->count));
  if (const auto* map = node.as<query::Map>()) count += static_cast<int>(map->inputs.size());
  for (const query::ChildRef& child : query::childrenOf(node)) count += generatesIn(*child.node);
  return count;
}

int sizeOf(const Node& node) {
  int size = 1;
  for (const query::ChildRef& child : query::childrenOf(node)) size += sizeOf(*child.node);
  return size;
}

}  // namespace

RandomTrees::RandomTrees(Dice& dice) : m_dice(dice) {
  for (int i = 0; i < 7; ++i) {
    // Some begin as the one before.
    std::string text;
    if (i > 0 && dice.oneIn(3)) text.append(m_texts.back());
    const int words = dice.oneIn(4) ? 8 + dice.below(14) : 1 + dice.below(6);
    for (int word = 0; word < words; ++word) {
      if (!text.empty()) text.push_back(' ');
      text += kWords[static_cast<std::size_t>(dice.below(kWords.size()))];
    }
    m_texts.push_back(std::move(text));
  }
}

Node RandomTrees::next() {
  m_left = 1 + m_dice.below(kMostGenerates);
  Node tree;
  switch (m_dice.below(4)) {
    case 0:
      tree = Node{generate(2)};
      break;
    case 1: {
      // A judge over answers, each of which may be one as well.
      --m_left;
      query::Generate judge{settings(), {}};
      query::Join list{JoinKind::Plus, {}};
      for (int i = 1 + m_dice.below(3); i > 0; --i)
        list.children.push_back(m_dice.oneIn(4) ? part(1) : Node{generate(1 + m_dice.below(2))});
      query::Join prompt{m_dice.oneIn(2) ? JoinKind::Cross : JoinKind::Seq, {}};
      if (!m_dice.oneIn(3)) prompt.children.push_back(message());
      prompt.children.push_back(Node{std::move(list)});
      if (!m_dice.oneIn(3)) prompt.children.push_back(message());
      judge.input = Node{std::move(prompt)};
      tree = Node{std::move(judge)};
      break;
    }
    case 2:
      tree = Node{query::Join{m_dice.oneIn(2) ? JoinKind::Plus : JoinKind::Par, {}}};
      for (int i = 1 + m_dice.below(4); i > 0; --i)
        tree.as<query::Join>()->children.push_back(Node{generate(2)});
      break;
    default:
      tree = part(3);
      if (generatesIn(tree) == 0) tree = Node{query::Generate{settings(), std::move(tree)}};
  }
  return tree;
}

/// One of an earlier tree, or a new one.
Node RandomTrees::part(int depth) {
  if (!m_parts.empty() && m_dice.oneIn(3)) {
    const Node& earlier = m_dice.of(m_parts);
    if (const int generates = generatesIn(earlier); generates <= m_left) {
      m_left -= generates;
      return earlier;
    }
  }
  Node node = fresh(depth);
  if (depth > 0 && m_parts.size() < 24 && sizeOf(node) <= kMostNodesOfAPart) m_parts.push_back(node);
  return node;
}

Node RandomTrees::fresh(int depth) {
  if (depth <= 0) return message();
  switch (m_dice.below(16)) {
    case 0:
    case 1:
    case 2:
      return join(JoinKind::Plus, 4, depth);
    case 3:
    case 4:
    case 5:
      return join(JoinKind::Cross, 4, depth);
    case 6:
      return join(JoinKind::Seq, 3, depth);
    case 7:
      return join(JoinKind::Par, 3, depth);
    case 8:
    case 9:
    case 10:
      return m_left > 0 ? Node{generate(depth)} : join(JoinKind::Cross, 3, depth);
    case 11:
      if (m_left >= 2) {
        query::Repeat repeat;
        const int count = 1 + m_dice.below(std::min(3, m_left));
        repeat.count = static_cast<std::uint8_t>(count);
        m_left -= count - 1;
        repeat.generate = generate(depth);
        return {std::move(repeat)};
      }
      return message();
    case 12:
      if (m_left >= 2) {
        query::Map map{settings(), {}};
        for (int i = 1 + m_dice.below(2); i > 0; --i, --m_left) map.inputs.push_back(text());
        return {std::move(map)};
      }
      return message();
    case 13:
      if (m_left > 0) return {query::Monad{Node{generate(depth)}}};
      return {query::Print{text()}};
    default:
      return message();
  }
}

Node RandomTrees::join(JoinKind kind, int most, int depth) {
  query::Join join{kind, {}};
  for (int i = 1 + m_dice.below(most); i > 0; --i) join.children.push_back(part(depth - 1));
  return {std::move(join)};
}

Node RandomTrees::message() {
  const int role = m_dice.below(8);
  return {query::Message{role == 0   ? query::Role::System
                         : role <= 2 ? query::Role::Assistant
                                     : query::Role::User,
                         text()}};
}

query::Generate RandomTrees::generate(int depth) {
  --m_left;
  return {settings(), part(depth - 1)};
}

query::GenerateSettings RandomTrees::settings() {
  query::GenerateSettings settings{.model = "m", .maxTokens = {}, .temperature = {}};
  if (!m_dice.oneIn(6)) settings.maxTokens = m_dice.oneIn(6) ? 12 + m_dice.below(30) : 1 + m_dice.below(9);
  if (!m_dice.oneIn(8)) settings.temperature = m_dice.oneIn(2) ? 0.0F : m_dice.oneIn(3) ? 1.5F : 0.9F;
  return settings;
}

std::string RandomTrees::text() {
  return m_dice.oneIn(40) ? std::string() : m_dice.of(m_texts);
}

}  // namespace spanscope::test
