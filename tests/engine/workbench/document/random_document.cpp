// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/workbench/document/random_document.h"

#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/engine/query/random_query.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace spanscope::document::testing {
namespace {

std::size_t below(std::mt19937& random, std::size_t bound) {
  return bound == 0 ? 0 : random() % bound;
}

NodeId anyNode(const Document& document, std::mt19937& random) {
  const std::vector<NodeId> ids = document.ids();
  // Now and then one that is not there.
  return ids.empty() || below(random, 20) == 0 ? 9999 : ids[below(random, ids.size())];
}

const std::string& anyOperator(std::mt19937& random) {
  return operatorNames()[below(random, operatorNames().size())];
}

NodeId copyTree(const Document& from, NodeId id, Document& to) {
  DocumentNode node = from.at(id);
  for (NodeId& child : node.children) {
    if (child != kNoNode) child = copyTree(from, child, to);
  }
  return to.insert(std::move(node));
}

void editTree(Document& document, std::mt19937& random) {
  const NodeId node = anyNode(document, random);
  const NodeId other = anyNode(document, random);
  switch (below(random, 11)) {
    case 0:
      addTree(document, query::testing::randomQuery(random, 3));
      break;
    case 1:
      addNode(document, makeOperator(anyOperator(random)),
              Point{.x = double(below(random, 1000)) / 8, .y = -3});
      break;
    case 2:
    case 3:
      connect(document, node, {.parent = other, .index = below(random, 3)});
      break;
    case 4:
      disconnect(document, node);
      break;
    case 5:
      insertAbove(document, node, other);
      break;
    case 6:
      moveChild(document, node, below(random, 4), below(random, 4));
      break;
    case 7:
      swapChildren(document, node, below(random, 3), below(random, 3));
      break;
    case 8:
      removeSubtrees(document, {node, other});
      break;
    case 9:
      removeKeepingChain(document, {node, other});
      break;
    default:
      duplicate(document, {node});
  }
}

std::vector<std::string> frozenAnswers(std::mt19937& random) {
  std::vector<std::string> answers(below(random, 4), "Lisbon. ä 🎻");
  if (!answers.empty()) answers.front() = below(random, 2) == 0 ? "" : "\"Porto\"\n";
  return answers;
}

void editLooks(Document& document, std::mt19937& random) {
  const NodeId node = anyNode(document, random);
  const bool on = below(random, 2) == 0;
  switch (below(random, 13)) {
    case 0:
      replaceOperator(document, node, anyOperator(random));
      break;
    case 1:
      setName(document, node, on ? "document \"1\"\n" : "");
      break;
    case 2:
      setMuted(document, {node}, on);
      break;
    case 3:
      setCollapsed(document, {node}, on);
      break;
    case 4:
      setFrozen(document, node, frozenAnswers(random));
      break;
    case 5:
      setPosition(document, node, Point{.x = double(random()) / 7, .y = -double(random()) / 3e6});
      break;
    case 6:
      makeRoot(document, node);
      break;
    case 7:
      document.parameters["n" + std::to_string(below(random, 4))] = std::to_string(random());
      document.settings.seed = random();
      document.settings.layers.push_back(static_cast<std::int32_t>(below(random, 4)));
      document.settings.attentionMebibytes = static_cast<std::int32_t>(63 + below(random, 3));
      document.settings.keptMebibytes = static_cast<std::int32_t>(511 + below(random, 3));
      document.settings.ranking = on ? "hybrid" : "auto";
      document.settings.summaries = on;
      document.settings.chunk = static_cast<std::int32_t>(8 + below(random, 500));
      document.settings.overlap = static_cast<std::int32_t>(below(random, 50));
      document.settings.embeddings = on ? "server" : "checkpoint";
      document.settings.embeddingsUrl = on ? "http://localhost:" + std::to_string(below(random, 9)) : "";
      document.settings.embeddingsModel = on ? "m \"ä\"" : "";
      document.settings.server = on ? "gpu-" + std::to_string(below(random, 3)) : "";
      document.settings.passages = static_cast<std::int32_t>(1 + below(random, 50));
      break;
    case 8:
      setPassageMark(document, node, std::string(31, 'a') + std::to_string(below(random, 3)),
                     on ? std::optional(PassageMark::Pinned) : PassageMark::Dropped);
      break;
    case 9: {
      const auto& kinds = query::parameterKinds();
      query::ParameterDeclaration said;
      said.name = "n" + std::to_string(below(random, 4));
      if (below(random, 2) == 0) said.kind = kinds[below(random, kinds.size())];
      if (below(random, 2) == 0) said.defaultValue = std::to_string(below(random, 9));
      if (below(random, 2) == 0) said.description = "how many, \"exactly\"";
      declareParameter(document, std::move(said));
      break;
    }
    case 11:
      setBends(document, node,
               std::vector<Point>(below(random, 3), Point{.x = double(below(random, 800)) / 8, .y = -3.5}));
      break;
    case 10:
      setServer(document, node, on ? "gpu-3" : "");
      break;
    default:
      document.frames.push_back(
          {.id = document.takeId(), .title = "A / ~ frame", .area = {1, 2.5, 3, 4}, .hue = 5});
      document.notes.push_back({.id = document.takeId(), .text = "note\twith tab", .area = {-1, 0.1, 3, 4}});
  }
}

}  // namespace

void randomEdit(Document& document, std::mt19937& random) {
  if (document.size() > 200) {
    removeSubtrees(document, {document.root()});
  } else if (below(random, 2) == 0) {
    editTree(document, random);
  } else {
    editLooks(document, random);
  }
}

std::string brokenLinks(const Document& document) {
  std::set<NodeId> reached;
  for (const NodeId top : document.tops()) {
    if (!document.contains(top)) return "a top that is not there";
    if (document.at(top).parent != kNoNode) return "a top with a parent";
    for (const NodeId id : document.subtree(top)) {
      if (!reached.insert(id).second) return "a node that is reached twice: " + std::to_string(id);
    }
  }
  if (reached.size() != document.size()) return "nodes that no top reaches";
  if ((document.root() == kNoNode) != (document.size() == 0)) return "a root that does not fit";
  for (const NodeId id : document.ids()) {
    const DocumentNode& node = document.at(id);
    const Arity arity = arityOf(node.own);
    if (arity.most != Arity::kMany && node.children.size() != arity.most) return "a wrong number of inputs";
    for (const query::ChildRef& child : query::childrenOf(node.own)) {
      if (*child.node != query::Node{}) return "own fields with children";
    }
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const NodeId child = node.children[i];
      if (child == kNoNode && arity.most == Arity::kMany) return "a join with a hole";
      if (child == kNoNode) continue;
      if (document.at(child).parent != id) return "a child with another parent";
      if (document.indexInParent(child) != i) return "a child at another index";
    }
  }
  return {};
}

Document withFreshIds(const Document& document) {
  Document fresh;
  std::vector<NodeId> tops;
  for (const NodeId top : document.tops()) tops.push_back(copyTree(document, top, fresh));
  if (!tops.empty()) fresh.setRoot(tops.front());
  fresh.parameters = document.parameters;
  fresh.settings = document.settings;
  fresh.frames = document.frames;
  fresh.notes = document.notes;
  for (Frame& frame : fresh.frames) frame.id = 0;
  for (Note& note : fresh.notes) note.id = 0;
  return fresh;
}

}  // namespace spanscope::document::testing
