// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query.h"

#include <charconv>
#include <system_error>

namespace spanscope::query {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

/// Takes `step` off the front of `pointer` if it stands there as whole reference tokens.
bool takeStep(std::string_view& pointer, std::string_view step) {
  if (!pointer.starts_with(step)) return false;
  if (pointer.size() > step.size() && pointer[step.size()] != '/') return false;
  pointer.remove_prefix(step.size());
  return true;
}

/// Takes "/<index>" off the front of `pointer`. Lists can be long, so the index is read instead of being
/// compared with the step of each child.
const Node* takeElement(const std::vector<Node>& children, std::string_view& pointer) {
  if (!pointer.starts_with('/')) return nullptr;
  const std::string_view digits = pointer.substr(1, pointer.substr(1).find('/'));
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return nullptr;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size() || index >= children.size())
    return nullptr;
  pointer.remove_prefix(1 + digits.size());
  return &children[index];
}

/// The child of `node` that `pointer` goes to next, taken off the front of it; nullptr if there is none.
const Node* takeChild(const Node& node, std::string_view& pointer) {
  if (const auto* join = node.as<Join>()) {
    if (!takeStep(pointer, std::string("/") + joinName(join->kind))) return nullptr;
    return takeElement(join->children, pointer);
  }
  for (const ChildRef& child : childrenOf(node)) {
    if (takeStep(pointer, child.step)) return child.node;
  }
  return nullptr;
}

}  // namespace

const char* roleName(Role role) {
  switch (role) {
    case Role::System:
      return "system";
    case Role::User:
      return "user";
    case Role::Assistant:
      return "assistant";
  }
  return "";
}

const char* joinName(JoinKind kind) {
  switch (kind) {
    case JoinKind::Seq:
      return "seq";
    case JoinKind::Par:
      return "par";
    case JoinKind::Cross:
      return "cross";
    case JoinKind::Plus:
      return "plus";
  }
  return "";
}

const char* operatorName(const Node& node) {
  return std::visit(
      Overloaded{[](const Message& m) { return roleName(m.role); }, [](const Generate&) { return "g"; },
                 [](const Join& j) { return joinName(j.kind); }, [](const Monad&) { return "monad"; },
                 [](const Zip&) { return "zip"; }, [](const Print&) { return "print"; },
                 [](const Repeat&) { return "repeat"; }, [](const Map&) { return "map"; },
                 [](const Augment&) { return "augment"; }, [](const Ask&) { return "ask"; },
                 [](const File&) { return "file"; }},
      node.value);
}

std::vector<ChildRef> childrenOf(const Node& node) {
  std::vector<ChildRef> children;
  if (const auto* join = node.as<Join>()) {
    children.reserve(join->children.size());
    const std::string step = std::string("/") + joinName(join->kind) + "/";
    for (std::size_t i = 0; i < join->children.size(); ++i) {
      children.push_back({&join->children[i], step + std::to_string(i)});
    }
  } else if (const auto* generate = node.as<Generate>()) {
    children.push_back({&*generate->input, "/g/input"});
  } else if (const auto* monad = node.as<Monad>()) {
    children.push_back({&*monad->body, "/monad"});
  } else if (const auto* zip = node.as<Zip>()) {
    children.push_back({&*zip->first, "/zip/first"});
    children.push_back({&*zip->second, "/zip/second"});
  } else if (const auto* repeat = node.as<Repeat>()) {
    children.push_back({&*repeat->generate.input, "/repeat/g/input"});
  } else if (const auto* augment = node.as<Augment>()) {
    children.push_back({&*augment->body, "/augment/body"});
  }
  return children;
}

const Node* nodeAt(const Node& root, std::string_view pointer) {
  const Node* node = &root;
  while (node != nullptr && !pointer.empty()) node = takeChild(*node, pointer);
  return node;
}

Node* nodeAt(Node& root, std::string_view pointer) {
  return const_cast<Node*>(nodeAt(std::as_const(root), pointer));  // NOLINT: root itself is not const
}

}  // namespace spanscope::query
