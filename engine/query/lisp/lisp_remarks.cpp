// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/field_walk.h"
#include "engine/query/lisp/lisp.h"

#include <utility>
#include <variant>

namespace spanscope::query {
namespace {

class Remarks {
 public:
  std::vector<Diagnostic> found;

  void node(const NodePath& path, const Node& node) {
    const auto* message = node.as<Message>();
    if (!infoOf(node).isInMacro || (message != nullptr && message->role == Role::Assistant)) {
      add(path, std::string("the operator \"") + operatorName(node) + "\"",
          "one that the macro has a form for");
    }
    if (const auto* join = node.as<Join>()) {
      const bool takesOne = join->kind == JoinKind::Cross;
      if (join->children.empty() || (join->children.size() == 1 && !takesOne)) {
        add(path, std::string("a ") + joinName(join->kind) + " of " + std::to_string(join->children.size()),
            takesOne ? "at least one query" : "at least two queries: one stands for a list of them");
      }
    }
  }
  void text(const NodePath& /*node*/, const std::string& /*pointer*/, const std::string& /*text*/) {}
  void count(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    number(pointer, value);
  }
  void maxTokens(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    setting(pointer, value);
  }
  void temperature(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    setting(pointer, value);
  }

 private:
  void number(const std::string& pointer, const auto& value) {
    if (std::holds_alternative<Parameter>(value)) add(pointer, "a parameter", "a number");
  }
  void setting(const std::string& pointer, const auto& value) {
    number(pointer, value);
    if (std::holds_alternative<Null>(value)) add(pointer, "null", "a number");
  }
  void add(const std::string& pointer, std::string what, std::string expected) {
    found.push_back({Severity::Warning,
                     pointer,
                     {},
                     0,
                     std::move(what),
                     std::move(expected),
                     "Spanscope reads it, the macro of IBM/spnl does not"});
  }
};

}  // namespace

std::vector<Diagnostic> lispRemarks(const Node& node) {
  Remarks remarks;
  FieldWalk<const Node, Remarks>(remarks).walk(node, {});
  return std::move(remarks.found);
}

}  // namespace spanscope::query
