// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/node_parts.h"

#include "engine/query/visit_fields.h"

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>

namespace spanscope::query {

namespace {

/// Finds the first field of a type, also within groups.
template <class Part>
struct PartFinder {
  Part* found = nullptr;

  template <class Member>
  void operator()(const FieldInfo& info, Member& member) {
    // A text with a key is not the whole value of an operator.
    const bool isPart = !TextField<Member> || !info.hasKey();
    if constexpr (std::same_as<Member, Part>) {
      if (found == nullptr && isPart) found = &member;
    }
    if constexpr (GroupField<Member>) {
      visitGroup(member, *this);
    } else {
      static_assert(LeafField<Member> || ChildField<Member> || ChildrenField<Member>);
    }
  }
};

/// Finds the name of a model that does not generate.
template <class Text>
struct ModelFinder {
  Text* found = nullptr;

  void operator()(const FieldInfo& info, TextField auto& text) {
    if (info.isName) found = &text;
  }
  void operator()(const FieldInfo& /*info*/, const SettingField auto& /*setting*/) {}
  void operator()(const FieldInfo& /*info*/, const CountField auto& /*count*/) {}
  void operator()(const FieldInfo& /*info*/, const TextsField auto& /*texts*/) {}
  void operator()(const FieldInfo& /*info*/, const DocumentField auto& /*document*/) {}
  void operator()(const FieldInfo& /*info*/, const GroupField auto& /*group*/) {}
  void operator()(const FieldInfo& /*info*/, const ChildField auto& /*child*/) {}
  void operator()(const FieldInfo& /*info*/, const ChildrenField auto& /*children*/) {}
};

template <class Part, class AnyNode>
auto* partOf(AnyNode& node) {
  PartFinder<std::conditional_t<std::is_const_v<AnyNode>, const Part, Part>> finder;
  visitFields(node, finder);
  return finder.found;
}

class ArityFinder {
 public:
  Arity arity;

  void operator()(const FieldInfo& /*info*/, const LeafField auto& /*field*/) {}
  void operator()(const FieldInfo& /*info*/, const GroupField auto& group) { visitGroup(group, *this); }
  void operator()(const FieldInfo& /*info*/, const ChildField auto& /*child*/) {
    ++arity.least;
    ++arity.most;
  }
  void operator()(const FieldInfo& /*info*/, const ChildrenField auto& /*children*/) {
    arity = {.least = 0, .most = Arity::kMany};
  }
};

class ContainerCounter {
 public:
  explicit ContainerCounter(BodyForm form) : m_depth(form == BodyForm::Value ? 1 : 2) { count(m_depth); }

  Containers containers;

  void operator()(const FieldInfo& /*info*/, const TextField auto& /*field*/) {}
  void operator()(const FieldInfo& /*info*/, const SettingField auto& /*field*/) {}
  void operator()(const FieldInfo& /*info*/, const CountField auto& /*field*/) {}
  void operator()(const FieldInfo& /*info*/, const TextsField auto& /*field*/) { count(m_depth + 1); }
  void operator()(const FieldInfo& /*info*/, const DocumentField auto& document) {
    // [name, {"Text": text}] or [name, {"Binary": [bytes]}]
    count(m_depth + (std::holds_alternative<std::string>(document.content) ? 2 : 3));
  }
  void operator()(const FieldInfo& info, const GroupField auto& group) {
    const std::size_t inside = info.hasKey() ? 1 : 0;
    m_depth += inside;
    count(m_depth);
    visitGroup(group, *this);
    m_depth -= inside;
  }
  void operator()(const FieldInfo& /*info*/, const ChildField auto& /*child*/) {
    containers.aroundChild = m_depth;
  }
  void operator()(const FieldInfo& /*info*/, const ChildrenField auto& /*children*/) {
    containers.aroundChild = m_depth + 1;
    count(m_depth + 1);
  }

 private:
  void count(std::size_t depth) { containers.own = std::max(containers.own, depth); }

  std::size_t m_depth;
};

class TextCounter {
 public:
  std::size_t bytes = 0;

  void operator()(const FieldInfo& /*info*/, const TextField auto& text) { bytes += text.size(); }
  void operator()(const FieldInfo& /*info*/, const SettingField auto& /*setting*/) {}
  void operator()(const FieldInfo& /*info*/, const CountField auto& /*count*/) {}
  void operator()(const FieldInfo& /*info*/, const TextsField auto& texts) {
    for (const std::string& text : texts) bytes += text.size();
  }
  void operator()(const FieldInfo& /*info*/, const DocumentField auto& document) {
    bytes += document.name.size();
    bytes += std::visit([](const auto& content) { return content.size(); }, document.content);
  }
  void operator()(const FieldInfo& /*info*/, const GroupField auto& group) { visitGroup(group, *this); }
  void operator()(const FieldInfo& /*info*/, const ChildField auto& /*child*/) {}
  void operator()(const FieldInfo& /*info*/, const ChildrenField auto& /*children*/) {}
};

/// Puts nodes into the places of children, in order.
class ChildSetter {
 public:
  explicit ChildSetter(std::vector<Node>& children) : m_children(children) {}

  void operator()(const FieldInfo& /*info*/, const LeafField auto& /*field*/) {}
  void operator()(const FieldInfo& /*info*/, GroupField auto& group) { visitGroup(group, *this); }
  void operator()(const FieldInfo& /*info*/, ChildField auto& child) {
    child = std::move(m_children.at(m_next++));
  }
  void operator()(const FieldInfo& /*info*/, ChildrenField auto& children) {
    children = std::move(m_children);
  }

 private:
  std::vector<Node>& m_children;
  std::size_t m_next = 0;
};

class ChildRemover {
 public:
  void operator()(const FieldInfo& /*info*/, const LeafField auto& /*field*/) {}
  void operator()(const FieldInfo& /*info*/, GroupField auto& group) { visitGroup(group, *this); }
  void operator()(const FieldInfo& /*info*/, ChildField auto& child) { child = Node{}; }
  void operator()(const FieldInfo& /*info*/, ChildrenField auto& children) { children.clear(); }
};

template <class AnyNode>
auto* generateIn(AnyNode& node) {
  auto* generate = node.template as<Generate>();
  return generate != nullptr ? generate : partOf<Generate>(node);
}

}  // namespace

const char* operatorName(const Node& node) {
  return std::visit([](const auto& op) { return keyOf(op); }, node.value);
}

const OperatorInfo& infoOf(const Node& node) {
  return std::visit(
      [](const auto& op) -> const OperatorInfo& { return std::remove_cvref_t<decltype(op)>::kInfo; },
      node.value);
}

const std::string* textOf(const Node& node) {
  return partOf<std::string>(node);
}
std::string* textOf(Node& node) {
  return partOf<std::string>(node);
}

const GenerateSettings* settingsOf(const Node& node) {
  return partOf<GenerateSettings>(node);
}
GenerateSettings* settingsOf(Node& node) {
  return partOf<GenerateSettings>(node);
}

const Generate* generateOf(const Node& node) {
  return generateIn(node);
}
Generate* generateOf(Node& node) {
  return generateIn(node);
}

const Times* countOf(const Node& node) {
  return partOf<Times>(node);
}
Times* countOf(Node& node) {
  return partOf<Times>(node);
}

const std::vector<std::string>* inputsOf(const Node& node) {
  return partOf<std::vector<std::string>>(node);
}
std::vector<std::string>* inputsOf(Node& node) {
  return partOf<std::vector<std::string>>(node);
}

const SourceDocument* documentOf(const Node& node) {
  return partOf<SourceDocument>(node);
}
SourceDocument* documentOf(Node& node) {
  return partOf<SourceDocument>(node);
}

const std::string* embeddingModelOf(const Node& node) {
  ModelFinder<const std::string> finder;
  visitFields(node, finder);
  return finder.found;
}
std::string* embeddingModelOf(Node& node) {
  ModelFinder<std::string> finder;
  visitFields(node, finder);
  return finder.found;
}

const OperatorShape& shapeOf(std::size_t index) {
  static const std::vector<OperatorShape> shapes = [] {
    std::vector<OperatorShape> all;
    forEachOperator([&]<class Operator>() {
      const Node node{Operator{}};
      const char* key = nullptr;
      forEachKey<Operator>([&](const char* known, const auto& /*make*/) {
        if (key == nullptr) key = known;
      });
      all.push_back({.key = key,
                     .info = Operator::kInfo,
                     .hasText = textOf(node) != nullptr,
                     .answers = answers(node),
                     .hasCount = countOf(node) != nullptr,
                     .hasInputs = inputsOf(node) != nullptr});
    });
    return all;
  }();
  return shapes.at(index);
}

Arity arityOf(const Node& node) {
  ArityFinder finder;
  visitFields(node, finder);
  return finder.arity;
}

std::size_t mostAnswers(const Node& node) {
  if (!answers(node)) return 0;
  return countOf(node) != nullptr || inputsOf(node) != nullptr ? Arity::kMany : 1;
}

Containers containersOf(const Node& node) {
  ContainerCounter counter(infoOf(node).form);
  visitFields(node, counter);
  return counter.containers;
}

std::size_t textBytesOf(const Node& node) {
  TextCounter counter;
  visitFields(node, counter);
  return counter.bytes;
}

Node withoutChildren(Node node) {
  visitFields(node, ChildRemover());
  return node;
}

Node withChildren(Node node, std::vector<Node> children) {
  visitFields(node, ChildSetter(children));
  return node;
}

Node makeOperator(std::string_view key) {
  Node node;
  forEachOperator([&]<class Operator>() {
    forEachKey<Operator>([&](std::string_view known, const auto& make) {
      if (known == key) node.value = make();
    });
  });
  return node;
}

namespace {

/// Passes on the queries among the fields of a node, with the steps to them.
template <class AnyNode, class Visit>
class ChildVisitor {
 public:
  ChildVisitor(const char* key, const Visit& visit) : m_prefix(std::string("/") + key), m_visit(visit) {}

  void operator()(const FieldInfo& /*info*/, const LeafField auto& /*field*/) {}
  void operator()(const FieldInfo& info, GroupField auto& group) {
    const std::size_t size = m_prefix.size();
    append(m_prefix, info);
    visitGroup(group, *this);
    m_prefix.resize(size);
  }
  void operator()(const FieldInfo& info, ChildField auto& child) {
    std::string step = m_prefix;
    append(step, info);
    m_visit(*child, step);
  }
  void operator()(const FieldInfo& info, ChildrenField auto& children) {
    std::string prefix = m_prefix;
    append(prefix, info);
    prefix += '/';
    for (std::size_t i = 0; i < children.size(); ++i) m_visit(children[i], prefix + std::to_string(i));
  }

 private:
  static void append(std::string& pointer, const FieldInfo& info) {
    if (!info.hasKey()) return;
    pointer += '/';
    pointer += info.key;
  }

  std::string m_prefix;
  const Visit& m_visit;
};

template <class AnyNode, class Visit>
void visitChildren(AnyNode& node, const Visit& visit) {
  ChildVisitor<AnyNode, Visit> visitor(operatorName(node), visit);
  visitFields(node, visitor);
}

template <class AnyNode, class Visit>
void walkAll(AnyNode& node, const NodePath& path, const Visit& visit) {
  visit(node, path);
  visitChildren(node, [&](AnyNode& child, const std::string& step) { walkAll(child, path + step, visit); });
}

}  // namespace

void forEachChild(const Node& node, const std::function<void(const Node&, const std::string&)>& visit) {
  visitChildren(node, visit);
}

void forEachChild(Node& node, const std::function<void(Node&, const std::string&)>& visit) {
  visitChildren(node, visit);
}

void walk(const Node& node, const NodePath& path,
          const std::function<void(const Node&, const NodePath&)>& visit) {
  walkAll(node, path, visit);
}

void walk(Node& node, const NodePath& path, const std::function<void(Node&, const NodePath&)>& visit) {
  walkAll(node, path, visit);
}

bool anyNode(const Node& node, const std::function<bool(const Node&)>& isSo) {
  if (isSo(node)) return true;
  bool isAny = false;
  visitChildren(
      node, [&](const Node& child, const std::string& /*step*/) { isAny = isAny || anyNode(child, isSo); });
  return isAny;
}

std::vector<ChildRef> childrenOf(const Node& node) {
  std::vector<ChildRef> children;
  visitChildren(node, [&](const Node& child, const std::string& step) {
    children.push_back({&child, step});
  });
  return children;
}

}  // namespace spanscope::query
