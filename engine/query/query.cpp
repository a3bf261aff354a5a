// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query.h"

namespace spanscope::query {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

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
  return std::visit(Overloaded{[](const Message& m) { return roleName(m.role); },
                               [](const Generate&) { return "g"; },
                               [](const Join& j) { return joinName(j.kind); },
                               [](const Monad&) { return "monad"; },
                               [](const Zip&) { return "zip"; },
                               [](const Print&) { return "print"; },
                               [](const Repeat&) { return "repeat"; },
                               [](const Map&) { return "map"; },
                               [](const Augment&) { return "augment"; },
                               [](const Ask&) { return "ask"; },
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

}  // namespace spanscope::query
