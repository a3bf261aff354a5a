// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/spnl/server_body.h"

#include "engine/query/node_parts.h"

#include <algorithm>
#include <optional>
#include <string>
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

/// Returns the reason why a prompt cannot be sent, in words, or nothing.
std::string obstacle(const Node& node) {
  switch (query::infoOf(node).gives) {
    case query::Gives::Reply:
      return "its prompt holds a reply that is not known yet";
    case query::Gives::Resolved:
      return std::string("its prompt holds an operator \"") + query::operatorName(node) +
             "\", which is resolved before a query is sent";
    case query::Gives::Nothing:
    case query::Gives::Text:
      return {};
    case query::Gives::Children:
      break;
  }
  std::string found;
  query::forEachChild(node, [&](const Node& child, const std::string& /*step*/) {
    if (found.empty()) found = obstacle(child);
  });
  return found;
}

bool isParameter(const query::GenerateSettings& settings) {
  return std::holds_alternative<query::Parameter>(settings.maxTokens) ||
         std::holds_alternative<query::Parameter>(settings.temperature);
}

/// Returns the prompt without parts that give no tokens; nothing if no part is left.
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
    query::forEachChild(node, [&](const Node& child, const std::string& step) { visit(child, path + step); });
    const query::GenerateSettings* settings = query::settingsOf(node);
    if (settings == nullptr) return;
    Node body = node;
    Generate* generate = query::generateOf(body);
    std::string reason = isParameter(*settings) ? kParameter : std::string();
    if (generate != nullptr) {
      if (reason.empty()) reason = obstacle(*generate->input);
      *generate = cleaned(*generate);
    }
    const query::Times* count = query::countOf(node);
    const bool isKnown = count == nullptr || std::holds_alternative<std::uint8_t>(*count);
    add(path, std::move(body), isKnown ? std::move(reason) : kParameter);
  }

 private:
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
  if (query::inputsOf(query) != nullptr) return true;
  const Generate* generate = query::generateOf(query);
  return generate != nullptr && isPrompt(*generate->input);
}

ServerBodies serverBodies(const query::Node& query) {
  Collector collector;
  collector.visit(query, "");
  return collector.take();
}

}  // namespace spanscope::spnl
