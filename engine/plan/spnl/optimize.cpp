// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/spnl/optimize.h"

#include "engine/plan/spnl/backends.h"
#include "engine/plan/spnl/simplify.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace spanscope::plan::spnl {
namespace {

using query::Generate;
using query::Join;
using query::JoinKind;
using query::Node;

constexpr int kRounds = 5;

Node plusOf(std::vector<Node> children) {
  return Node{Join{JoinKind::Plus, std::move(children)}};
}

bool isRepeatOfNumber(const Node& node) {
  const auto* repeat = node.as<query::Repeat>();
  return repeat != nullptr && std::holds_alternative<std::uint8_t>(repeat->count);
}

/// A plus of nothing but what generates.
bool isPlusOfGenerates(const Node& node) {
  const auto* join = node.as<Join>();
  if (join == nullptr || join->kind != JoinKind::Plus || join->children.empty()) return false;
  return std::all_of(join->children.begin(), join->children.end(), [](const Node& child) {
    return child.as<Generate>() != nullptr || isRepeatOfNumber(child);
  });
}

/// The generate with its input under a plus.
Node withPlus(const Generate& generate) {
  return Node{Generate{generate.settings, plusOf({*generate.input})}};
}

/// The input of an inner generate, then the generate: what is computed for the inner prompt is what the outer
/// one begins with.
Node distributed(const Generate& generate) {
  return plusOf({*generate.input, withPlus(generate)});
}

class Pass {
 public:
  const std::optional<Error>& problem() const { return m_problem; }

  Node rewrite(const Node& node) {
    if (const auto* join = node.as<Join>()) {
      if (join->kind == JoinKind::Seq || join->kind == JoinKind::Par) return simplified(node);
      Join result{join->kind, {}};
      result.children.reserve(join->children.size());
      for (const Node& child : join->children) result.children.push_back(rewrite(child));
      return Node{std::move(result)};
    }
    if (const auto* generate = node.as<Generate>()) {
      return Node{Generate{generate->settings, rewriteInput(*generate)}};
    }
    if (node.as<query::Repeat>() != nullptr) return plusOf({node});
    if (node.as<query::Message>() != nullptr) return simplified(node);
    return node;
  }

 private:
  Node simplified(const Node& node) {
    Rewritten result = simplifyOnce(node);
    if (result.problem) m_problem = std::move(result.problem);
    if (!result.query) return node;
    return std::move(*result.query);
  }

  Node rewriteInput(const Generate& generate) {
    const Node& input = *generate.input;
    if (!supportsSpans(generate.settings.model)) return rewrite(input);
    if (isRepeatOfNumber(input)) {
      const auto& repeat = *input.as<query::Repeat>();
      return plusOf(std::vector<Node>(std::get<std::uint8_t>(repeat.count), withPlus(repeat.generate)));
    }
    const auto* seq = input.as<Join>();
    if (seq == nullptr || seq->kind != JoinKind::Seq ||
        std::none_of(seq->children.begin(), seq->children.end(), isPlusOfGenerates)) {
      return rewrite(input);
    }
    Join result{JoinKind::Seq, {}};
    for (const Node& child : seq->children) {
      result.children.push_back(isPlusOfGenerates(child) ? distribute(*child.as<Join>()) : child);
    }
    return Node{std::move(result)};
  }

  static Node distribute(const Join& plus) {
    std::vector<Node> children;
    for (const Node& child : plus.children) {
      if (const auto* repeat = child.as<query::Repeat>()) {
        children.insert(children.end(), std::get<std::uint8_t>(repeat->count), distributed(repeat->generate));
      } else {
        children.push_back(distributed(*child.as<Generate>()));
      }
    }
    return plusOf(std::move(children));
  }

  std::optional<Error> m_problem;
};

}  // namespace

Rewritten optimize(const query::Node& query) {
  Pass pass;
  Rewritten result{pass.rewrite(query), {}};
  if (pass.problem()) return {{}, pass.problem()};
  for (int round = 0; round < kRounds && result.query; ++round) {
    result = simplifyOnce(std::move(*result.query));
  }
  return result;
}

}  // namespace spanscope::plan::spnl
