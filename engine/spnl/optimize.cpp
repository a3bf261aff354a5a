// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/spnl/optimize.h"

#include "engine/query/node_parts.h"
#include "engine/spnl/backends.h"
#include "engine/spnl/simplify.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace spanscope::spnl {
namespace {

using query::Generate;
using query::Join;
using query::JoinKind;
using query::Node;

constexpr int kRounds = 5;

Node plusOf(std::vector<Node> children) {
  return Node{Join{JoinKind::Plus, std::move(children)}};
}

const Join* seqOf(const Node& node) {
  const auto* join = node.as<Join>();
  return join != nullptr && join->kind == JoinKind::Seq ? join : nullptr;
}

/// A plus in which there is nothing but generates.
const Join* plusOfGenerates(const Node& node) {
  const auto* join = node.as<Join>();
  if (join == nullptr || join->kind != JoinKind::Plus) return nullptr;
  return std::all_of(join->children.begin(), join->children.end(),
                     [](const Node& child) { return child.as<Generate>() != nullptr; })
             ? join
             : nullptr;
}

/// The generate with its input under a plus, which takes the place of a seq.
Generate withPlus(const Generate& generate) {
  const Join* seq = seqOf(*generate.input);
  return {generate.settings, plusOf(seq != nullptr ? seq->children : std::vector<Node>{*generate.input})};
}

/// The input of an inner generate, then the generate: what is computed for the inner prompt is what the outer
/// one begins with.
Node distributed(const Generate& generate) {
  return plusOf({*generate.input, Node{withPlus(generate)}});
}

/// The same of a generate that is repeated.
Node distributedRepeat(const Node& repeat) {
  const Generate& generate = *query::generateOf(repeat);
  const Node& input = *generate.input;
  const Join* seq = seqOf(input);
  Node inner = repeat;
  *query::generateOf(inner) = withPlus(generate);
  return Node{query::Zip{seq != nullptr ? plusOf(seq->children) : input, std::move(inner)}};
}

Node distributed(const Node& node) {
  if (query::countOf(node) != nullptr) return distributedRepeat(node);
  const Join* plus = plusOfGenerates(node);
  if (plus == nullptr) return node;
  std::vector<Node> children;
  children.reserve(plus->children.size());
  for (const Node& child : plus->children) children.push_back(distributed(*child.as<Generate>()));
  return plusOf(std::move(children));
}

bool isDistributed(const Node& node) {
  return query::countOf(node) != nullptr || plusOfGenerates(node) != nullptr;
}

class Pass {
 public:
  explicit Pass(const Node& query) : m_size(sizeOf(query)) {}

  bool isTooLarge() const { return m_isTooLarge; }

  Node rewrite(const Node& node) {
    const auto* join = node.as<Join>();
    if (join != nullptr && (join->kind == JoinKind::Plus || join->kind == JoinKind::Cross)) {
      Join result{join->kind, {}};
      result.children.reserve(join->children.size());
      for (const Node& child : join->children) result.children.push_back(rewrite(child));
      return Node{std::move(result)};
    }
    if (const auto* generate = node.as<Generate>()) {
      return Node{Generate{generate->settings, rewriteInput(*generate)}};
    }
    if (query::countOf(node) != nullptr) {
      Node repeat = node;
      Generate& generate = *query::generateOf(repeat);
      generate.input = rewrite(*generate.input);
      return plusOf({std::move(repeat)});
    }
    return node;
  }

 private:
  Node rewriteInput(const Generate& generate) {
    Node input = simplified(rewrite(*generate.input));
    const Join* seq = seqOf(input);
    if (seq == nullptr || !supportsSpans(generate.settings.model) ||
        std::none_of(seq->children.begin(), seq->children.end(), isDistributed)) {
      return input;
    }
    Join result{JoinKind::Seq, {}};
    result.children.reserve(seq->children.size());
    for (const Node& child : seq->children) result.children.push_back(distributed(child));
    Node output{std::move(result)};
    const Size after = sizeOf(output);
    const Size before = sizeOf(input);
    m_size.nodes += after.nodes - before.nodes;
    m_size.textBytes += after.textBytes - before.textBytes;
    return output;
  }

  /// An empty seq, for good, once the query is too large.
  Node simplified(Node node) {
    std::optional<Node> simple;
    if (!m_isTooLarge) simple = simplifyPart(std::move(node), m_size);
    m_isTooLarge = !simple;
    return simple ? std::move(*simple) : Node{Join{JoinKind::Seq, {}}};
  }

  Size m_size;
  bool m_isTooLarge = false;
};

}  // namespace

Rewritten optimize(const query::Node& query) {
  Pass pass(query);
  Rewritten result{pass.rewrite(query), {}};
  if (pass.isTooLarge()) return {{}, tooLarge()};
  for (int round = 0; round < kRounds && result.query; ++round) {
    result = simplifyOnce(std::move(*result.query));
  }
  return result;
}

}  // namespace spanscope::spnl
