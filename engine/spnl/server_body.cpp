// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/spnl/server_body.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace spanscope::spnl {
namespace {

using query::Generate;
using query::Join;
using query::Message;
using query::Node;

constexpr const char* kParameter = "a parameter in it has no value";

bool isPrompt(const Node& node) {
  if (node.as<Message>() != nullptr) return true;
  const auto* join = node.as<Join>();
  return join != nullptr && std::all_of(join->children.begin(), join->children.end(), isPrompt);
}

bool generates(const Node& node) {
  return node.as<Generate>() != nullptr || node.as<query::Repeat>() != nullptr ||
         node.as<query::Map>() != nullptr;
}

/// What keeps a prompt from being sent, in words; nothing if it can be.
std::string obstacle(const Node& node) {
  if (generates(node)) return "its prompt holds a reply that is not known yet";
  if (node.as<query::Print>() != nullptr || node.as<query::Monad>() != nullptr) return {};
  if (node.as<Message>() == nullptr && node.as<Join>() == nullptr) {
    return std::string("its prompt holds an operator \"") + query::operatorName(node) +
           "\", which is resolved before a query is sent";
  }
  for (const query::ChildRef& child : query::childrenOf(node)) {
    std::string found = obstacle(*child.node);
    if (!found.empty()) return found;
  }
  return {};
}

bool isParameter(const query::GenerateSettings& settings) {
  return std::holds_alternative<query::Parameter>(settings.maxTokens) ||
         std::holds_alternative<query::Parameter>(settings.temperature);
}

/// The prompt without what gives no tokens; nothing if nothing is left.
std::optional<Node> cleaned(const Node& node) {
  if (const auto* message = node.as<Message>()) {
    return message->text.empty() ? std::nullopt : std::optional<Node>(node);
  }
  const auto* join = node.as<Join>();
  if (join == nullptr) return std::nullopt;
  Join result{join->kind, {}};
  for (const Node& child : join->children) {
    if (std::optional<Node> kept = cleaned(child)) result.children.push_back(std::move(*kept));
  }
  if (result.children.empty()) return std::nullopt;
  return Node{std::move(result)};
}

Generate cleaned(const Generate& generate) {
  std::optional<Node> input = cleaned(*generate.input);
  if (!input) input = Node{Join{query::JoinKind::Seq, {}}};
  return {generate.settings, std::move(*input)};
}

class Collector {
 public:
  ServerBodies take() { return std::move(m_result); }

  void visit(const Node& node, const NodePath& path) {
    for (const query::ChildRef& child : query::childrenOf(node)) visit(*child.node, path + child.step);
    if (const auto* map = node.as<query::Map>()) {
      add(path, node, isParameter(map->settings) ? kParameter : std::string());
    } else if (const auto* generate = node.as<Generate>()) {
      add(path, Node{cleaned(*generate)}, reasonAgainst(*generate));
    } else if (const auto* repeat = node.as<query::Repeat>()) {
      const bool isKnown = std::holds_alternative<std::uint8_t>(repeat->count);
      add(path, Node{query::Repeat{repeat->count, cleaned(repeat->generate)}},
          isKnown ? reasonAgainst(repeat->generate) : kParameter);
    }
  }

 private:
  static std::string reasonAgainst(const Generate& generate) {
    return isParameter(generate.settings) ? kParameter : obstacle(*generate.input);
  }

  void add(const NodePath& path, Node body, std::string reason) {
    if (reason.empty()) {
      m_result.bodies.push_back({path, std::move(body)});
    } else {
      m_result.withheld.push_back({path, std::move(reason)});
    }
  }

  ServerBodies m_result;
};

}  // namespace

bool isServerBody(const query::Node& query) {
  if (query.as<query::Map>() != nullptr) return true;
  if (const auto* generate = query.as<Generate>()) return isPrompt(*generate->input);
  const auto* repeat = query.as<query::Repeat>();
  return repeat != nullptr && isPrompt(*repeat->generate.input);
}

ServerBodies serverBodies(const query::Node& query) {
  Collector collector;
  collector.visit(query, "");
  return collector.take();
}

}  // namespace spanscope::spnl
