// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/advice.h"

#include "engine/query/field_walk.h"

#include <string>
#include <utility>

namespace spanscope::query {
namespace {

class EmptyMessages {
 public:
  std::vector<Diagnostic> found;

  void node(const NodePath& path, const Node& node) {
    const auto* message = node.as<Message>();
    if (message == nullptr || !message->text.empty()) return;
    Diagnostic advice;
    advice.severity = Severity::Warning;
    advice.pointer = path + "/" + roleName(message->role);
    advice.found = "an empty message";
    advice.expected = "text";
    advice.hint = "it is left out of the prompt";
    found.push_back(std::move(advice));
  }
  void text(const NodePath& /*node*/, const std::string& /*pointer*/, const std::string& /*text*/) {}
  void content(const NodePath& /*node*/, const std::string& /*pointer*/, const auto& /*content*/) {}
  void count(const NodePath& /*node*/, const std::string& /*pointer*/, const auto& /*value*/) {}
  void maxTokens(const NodePath& /*node*/, const std::string& /*pointer*/, const auto& /*value*/) {}
  void temperature(const NodePath& /*node*/, const std::string& /*pointer*/, const auto& /*value*/) {}
};

}  // namespace

std::vector<Diagnostic> adviceOn(const Node& node) {
  EmptyMessages messages;
  FieldWalk<const Node, EmptyMessages>(messages).walk(node, {});
  return std::move(messages.found);
}

}  // namespace spanscope::query
