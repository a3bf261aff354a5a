// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query.h"

#include "engine/query/visit_fields.h"

#include <charconv>
#include <system_error>

namespace spanscope::query {
namespace {

/// Removes the key from the front of `pointer`, if it is a whole reference token there.
bool takeStep(std::string_view& pointer, std::string_view key) {
  if (!pointer.starts_with('/') || !pointer.substr(1).starts_with(key)) return false;
  const std::size_t size = 1 + key.size();
  if (pointer.size() > size && pointer[size] != '/') return false;
  pointer.remove_prefix(size);
  return true;
}

/// Removes "/<index>" from the front of `pointer`. Lists can be long. The function therefore reads the index
/// and does not compare the index of each child.
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

/// Finds the child on the path of a pointer. The pointer begins in the fields of the node.
class ChildFinder {
 public:
  explicit ChildFinder(std::string_view pointer) : m_pointer(pointer) {}

  const Node* child = nullptr;
  std::string_view rest;  ///< the part of the pointer after the child

  void operator()(const FieldInfo& /*info*/, const LeafField auto& /*field*/) {}
  void operator()(const FieldInfo& info, const GroupField auto& group) {
    const std::string_view pointer = m_pointer;
    if (take(info)) visitGroup(group, *this);
    m_pointer = pointer;
  }
  void operator()(const FieldInfo& info, const ChildField auto& field) {
    const std::string_view pointer = m_pointer;
    if (child == nullptr && take(info)) found(&*field);
    m_pointer = pointer;
  }
  void operator()(const FieldInfo& info, const ChildrenField auto& children) {
    const std::string_view pointer = m_pointer;
    if (child == nullptr && take(info)) found(takeElement(children, m_pointer));
    m_pointer = pointer;
  }

 private:
  bool take(const FieldInfo& info) { return !info.hasKey() || takeStep(m_pointer, info.key); }
  void found(const Node* node) {
    child = node;
    rest = m_pointer;
  }

  std::string_view m_pointer;
};

/// Returns the next child of `node` on the path `pointer`, and removes the step to this child from the
/// pointer. Returns nullptr if there is no such child.
const Node* takeChild(const Node& node, std::string_view& pointer) {
  if (!takeStep(pointer, operatorName(node))) return nullptr;
  ChildFinder finder(pointer);
  visitFields(node, finder);
  pointer = finder.rest;
  return finder.child;
}

}  // namespace

const Node* nodeAt(const Node& root, std::string_view pointer) {
  const Node* node = &root;
  while (node != nullptr && !pointer.empty()) node = takeChild(*node, pointer);
  return node;
}

Node* nodeAt(Node& root, std::string_view pointer) {
  return const_cast<Node*>(nodeAt(std::as_const(root), pointer));  // NOLINT: root itself is not const
}

}  // namespace spanscope::query
