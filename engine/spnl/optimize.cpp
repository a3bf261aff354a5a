// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/spnl/optimize.h"

#include "engine/query/node_parts.h"
#include "engine/spnl/request_text.h"

#include <algorithm>
#include <iterator>
#include <string>
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

/// Returns the plus if all children are generate nodes, else null.
const Join* plusOfGenerates(const Node& node) {
  const auto* join = node.as<Join>();
  if (join == nullptr || join->kind != JoinKind::Plus) return nullptr;
  return std::ranges::all_of(join->children,
                             [](const Node& child) { return child.as<Generate>() != nullptr; })
             ? join
             : nullptr;
}

/// Returns the generate node with a plus around its input. A seq as input becomes the plus.
Generate withPlus(const Generate& generate) {
  const Join* seq = seqOf(*generate.input);
  return {generate.settings, plusOf(seq != nullptr ? seq->children : std::vector<Node>{*generate.input})};
}

/// Returns the input of a subquery, followed by the generate node of the subquery. The outer prompt then
/// contains the prompt of the subquery.
Node distributed(const Generate& generate) {
  return plusOf({*generate.input, Node{withPlus(generate)}});
}

/// Distributes a repeated generate node.
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
        std::ranges::none_of(seq->children, isDistributed)) {
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

  /// Returns an empty seq in every later call if the query is too large.
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

namespace {

using query::Message;

Join* joinOf(Node& node, JoinKind kind) {
  auto* join = node.as<Join>();
  return join != nullptr && join->kind == kind ? join : nullptr;
}

bool isJoin(const Node& node, JoinKind kind) {
  const auto* join = node.as<Join>();
  return join != nullptr && join->kind == kind;
}

bool areAll(const std::vector<Node>& nodes, JoinKind kind) {
  return std::ranges::all_of(nodes, [kind](const Node& node) { return isJoin(node, kind); });
}

Node joinNode(JoinKind kind, std::vector<Node> children) {
  return Node{Join{kind, std::move(children)}};
}

void append(std::vector<Node>& list, std::vector<Node>& more) {
  std::move(more.begin(), more.end(), std::back_inserter(list));
}

/// A missing setting has the default. Null is another value than the default.
template <class T>
query::Setting<T> given(const query::Setting<T>& setting, T defaultValue) {
  return std::holds_alternative<query::Absent>(setting) ? query::Setting<T>(defaultValue) : setting;
}

bool haveEqualMeaning(const query::GenerateSettings& a, const query::GenerateSettings& b) {
  return a.model == b.model &&
         given(a.maxTokens, query::kDefaultMaxTokens) == given(b.maxTokens, query::kDefaultMaxTokens) &&
         given(a.temperature, query::kDefaultTemperature) == given(b.temperature, query::kDefaultTemperature);
}

/// Returns the message if the node is a generate node with a message as input.
const Message* onlyMessage(const Node& node) {
  const auto* generate = node.as<Generate>();
  return generate == nullptr ? nullptr : generate->input->as<Message>();
}

/// Whether a map can express the children of a plus.
bool makeMap(const std::vector<Node>& children) {
  if (children.size() < 2) return false;
  const Message* first = onlyMessage(children.front());
  if (first == nullptr) return false;
  const query::GenerateSettings& settings = children.front().as<Generate>()->settings;
  return std::ranges::all_of(children, [&](const Node& child) {
    const Message* message = onlyMessage(child);
    return message != nullptr && message->role == first->role &&
           haveEqualMeaning(child.as<Generate>()->settings, settings);
  });
}

void addSize(const Node& node, Size& size) {
  ++size.nodes;
  if (const auto* message = node.as<Message>()) size.textBytes += message->text.size();
  if (const std::vector<std::string>* inputs = query::inputsOf(node)) {
    size.nodes += inputs->size();
    for (const std::string& input : *inputs) size.textBytes += input.size();
  }
  if (const query::SourceDocument* document = query::documentOf(node)) {
    size.textBytes += std::visit([](const auto& content) { return content.size(); }, document->content);
  }
  query::forEachChild(node, [&](const Node& child, const std::string& /*step*/) { addSize(child, size); });
}

/// The rest of a node after one round, or nothing.
using Remnant = std::optional<Node>;

class Simplifier {
 public:
  explicit Simplifier(Size& size) : m_size(&size) {}

  bool isTooLarge() const { return m_isTooLarge; }

  /// Simplifies a node in a place that needs a node. Returns an empty seq if nothing is left.
  Node simplify(Node node) {
    Remnant remnant = simplified(std::move(node));
    return remnant ? std::move(*remnant) : joinNode(JoinKind::Seq, {});
  }

 private:
  Remnant simplified(Node node) {
    if (const auto* message = node.as<Message>()) {
      if (message->text.empty()) return std::nullopt;
    } else if (auto* join = node.as<Join>()) {
      return simplifyJoin(*join);
    } else if (const query::Times* count = query::countOf(node)) {
      const auto* times = std::get_if<std::uint8_t>(count);
      Generate& generate = *query::generateOf(node);
      if (times != nullptr && !supportsBulkRepeat(generate.settings.model)) {
        return expandRepeat(generate, *times);
      }
    } else if (std::vector<std::string>* inputs = query::inputsOf(node)) {
      const query::GenerateSettings& settings = *query::settingsOf(node);
      if (!supportsBulkMap(settings.model)) return expandMap(settings, *inputs);
    } else if (query::infoOf(node).gives != query::Gives::Resolved) {
      // Nodes that are resolved first do not change.
      query::forEachChild(
          node, [this](Node& child, const std::string& /*step*/) { child = simplify(std::move(child)); });
    }
    return node;
  }

  std::vector<Node> simplifyAll(std::vector<Node> nodes) {
    std::vector<Node> result;
    result.reserve(nodes.size());
    for (Node& node : nodes) {
      if (Remnant remnant = simplified(std::move(node))) result.push_back(std::move(*remnant));
    }
    return result;
  }

  Remnant simplifyJoin(Join& join) {
    switch (join.kind) {
      case JoinKind::Seq:
        return simplifySeq(join.children);
      case JoinKind::Par:
        return simplifyPar(join.children);
      case JoinKind::Cross:
        return simplifyCross(join.children);
      case JoinKind::Plus:
        return simplifyPlus(join.children);
    }
    return Node{std::move(join)};
  }

  Remnant simplifySeq(std::vector<Node>& children) {
    if (children.empty()) return std::nullopt;
    if (children.size() == 1) return simplified(std::move(children.front()));
    return joinNode(JoinKind::Seq, takeIn(JoinKind::Seq, simplifyAll(std::move(children))));
  }

  Remnant simplifyPar(std::vector<Node>& children) {
    if (children.size() == 1) return simplified(std::move(children.front()));
    if (areAll(children, JoinKind::Plus)) return joinPluses(children);
    return joinNode(JoinKind::Par, simplifyAll(std::move(children)));
  }

  Remnant simplifyCross(std::vector<Node>& children) {
    if (!children.empty() && isJoin(children.back(), JoinKind::Cross)) {
      Node last = std::move(children.back());
      children.pop_back();
      append(children, last.as<Join>()->children);
    }
    return joinNode(JoinKind::Cross, simplifyAll(std::move(children)));
  }

  Remnant simplifyPlus(std::vector<Node>& children) {
    if (children.empty()) return std::nullopt;
    if (areAll(children, JoinKind::Plus)) return joinPluses(children);
    if (makeMap(children)) return mapOf(children);
    if (isJoin(children.front(), JoinKind::Seq) || isJoin(children.front(), JoinKind::Plus)) {
      std::vector<Node> taken = std::move(children.front().as<Join>()->children);
      children.erase(children.begin());
      append(taken, children);
      return joinNode(JoinKind::Plus, simplifyAll(std::move(taken)));
    }
    return joinNode(JoinKind::Plus, takeIn(JoinKind::Plus, simplifyAll(std::move(children))));
  }

  /// Returns the nodes. Each join of this kind is replaced by its children.
  static std::vector<Node> takeIn(JoinKind kind, std::vector<Node> nodes) {
    std::vector<Node> result;
    result.reserve(nodes.size());
    for (Node& node : nodes) {
      if (Join* inner = joinOf(node, kind)) {
        append(result, inner->children);
      } else {
        result.push_back(std::move(node));
      }
    }
    return result;
  }

  static Node joinPluses(std::vector<Node>& pluses) {
    std::vector<Node> result;
    for (Node& plus : pluses) append(result, plus.as<Join>()->children);
    return joinNode(JoinKind::Plus, std::move(result));
  }

  Node mapOf(std::vector<Node>& generates) {
    query::Map map{generates.front().as<Generate>()->settings, {}};
    map.inputs.reserve(generates.size());
    for (Node& generate : generates) {
      map.inputs.push_back(std::move(generate.as<Generate>()->input->as<Message>()->text));
    }
    m_size->nodes -= map.inputs.size();
    return Node{std::move(map)};
  }

  Node expandRepeat(Generate& repeated, std::size_t count) {
    const Node generate{std::move(repeated)};
    std::vector<Node> copies;
    if (grow(sizeOf(generate), count)) copies.assign(count, generate);
    return joinNode(JoinKind::Plus, std::move(copies));
  }

  Node expandMap(const query::GenerateSettings& settings, std::vector<std::string>& inputs) {
    std::vector<Node> generates;
    generates.reserve(inputs.size());
    if (grow({1, 0}, inputs.size())) {
      for (std::string& input : inputs) {
        generates.push_back(Node{Generate{settings, Node{Message{query::Role::User, std::move(input)}}}});
      }
    }
    return joinNode(JoinKind::Plus, std::move(generates));
  }

  /// Returns false if adding this size `times` times exceeds the limits. All later calls then return false
  /// too.
  bool grow(const Size& each, std::size_t times) {
    if (m_isTooLarge || times > (kMaxNodes - std::min(kMaxNodes, m_size->nodes)) / each.nodes ||
        (each.textBytes > 0 &&
         times > (kMaxTextBytes - std::min(kMaxTextBytes, m_size->textBytes)) / each.textBytes)) {
      m_isTooLarge = true;
      return false;
    }
    m_size->nodes += times * each.nodes;
    m_size->textBytes += times * each.textBytes;
    return true;
  }

  Size* m_size;  ///< size of the whole query
  bool m_isTooLarge = false;
};

}  // namespace

Rewritten simplifyOnce(query::Node query) {
  Size size = sizeOf(query);
  std::optional<Node> simple = simplifyPart(std::move(query), size);
  if (!simple) return {{}, tooLarge()};
  return {std::move(simple), {}};
}

Size sizeOf(const query::Node& query) {
  Size size;
  addSize(query, size);
  return size;
}

std::optional<query::Node> simplifyPart(query::Node part, Size& size) {
  Simplifier simplifier(size);
  Node simple = simplifier.simplify(std::move(part));
  if (simplifier.isTooLarge()) return std::nullopt;
  return simple;
}

Error tooLarge() {
  return {"", "", "repeat and map nodes whose expanded form is too large",
          "at most " + std::to_string(kMaxNodes) + " nodes and " + std::to_string(kMaxTextBytes) +
              " bytes of text"};
}

}  // namespace spanscope::spnl
