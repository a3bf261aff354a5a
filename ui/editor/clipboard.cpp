// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/clipboard.h"

#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/query_form.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "ui/document/document_file.h"
#include "ui/document/unread_text.h"
#include "ui/editor/add_rules.h"
#include "ui/editor/alignment.h"
#include "ui/words/tr.h"

#include <QMimeData>
#include <QUrl>

#include <optional>

namespace spanscope::ui {

namespace {

using document::Document;
using document::kNoNode;
using document::NodeId;

/// Returns the texts of the elements of a JSON list. This function only checks brackets and strings. The
/// reader of an element finds errors in it.
std::optional<std::vector<std::string>> listElements(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '[') return std::nullopt;
  std::vector<std::string> elements;
  std::size_t begin = first + 1;
  int depth = 0;
  bool inString = false;
  for (std::size_t i = first + 1; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        inString = false;
      }
      continue;
    }
    if (c == '"') inString = true;
    if (c == '{' || c == '[') ++depth;
    if (depth == 0 && (c == ',' || c == ']')) {
      elements.push_back(text.substr(begin, i - begin));
      begin = i + 1;
      if (c == ']') {
        if (text.find_first_not_of(" \t\r\n", begin) != std::string::npos) return std::nullopt;
        return elements;
      }
    }
    if (c == '}' || c == ']') --depth;
  }
  return std::nullopt;
}

/// Whether a text is a JSON object, a list of objects, or the beginning of one. Words in brackets are no
/// JSON.
bool isMeantAsJson(const std::string& text) {
  const char* const space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  if (text[first] != '{' && text[first] != '[') return false;
  const std::size_t second = text.find_first_not_of(space, first + 1);
  if (second == std::string::npos) return true;
  return text[first] == '{' ? text[second] == '"' || text[second] == '}'
                            : text[second] == '{' || text[second] == ']';
}

/// Reads a query in YAML or Lisp. Nothing if the text is no query, or can also be an ordinary text.
std::optional<PastedNodes> nodesInOtherForm(const std::string& text) {
  const query::QueryForm form = query::queryFormOf({}, text);
  if (form == query::QueryForm::Json) return std::nullopt;
  query::ParseResult read = query::parseQuery(text, form);
  if (!read.query) return std::nullopt;
  // "user: Hi" is more likely a line of a conversation than YAML.
  if (form == query::QueryForm::Yaml && query::childrenOf(*read.query).empty()) return std::nullopt;
  PastedNodes pasted;
  pasted.warnings = std::move(read.diagnostics);
  if (read.query->as<query::Join>() != nullptr) {
    // Removes the warning that a list of chat messages is read as a seq, because no data is lost.
    const auto root = read.sources.find({});
    std::erase_if(pasted.warnings, [&root](const query::Diagnostic& warning) {
      return root && warning.pointer.empty() && warning.offset == root->begin;
    });
  }
  for (query::Diagnostic& part : query::unkeptParts(text, form)) pasted.warnings.push_back(std::move(part));
  removeKept(pasted.warnings, document::fromQuery(*read.query), {});
  pasted.trees.push_back(std::move(*read.query));
  return pasted;
}

QString reasonOf(const query::ParseResult& result) {
  for (const query::Diagnostic& diagnostic : result.diagnostics) {
    if (diagnostic.severity != Severity::Error) continue;
    return tr("The clipboard has no query: line %1: %2")
        .arg(diagnostic.position.line)
        .arg(QString::fromStdString(diagnostic.message()));
  }
  return tr("The clipboard has no query");
}

}  // namespace

std::string nodesToText(const Document& document, const std::vector<NodeId>& ids) {
  const std::vector<NodeId> tops = document::topmost(document, ids);
  if (tops.empty()) return {};
  if (tops.size() == 1) return query::writePretty(document::toTree(document, tops.front()));
  std::string text = "[\n";
  for (std::size_t i = 0; i < tops.size(); ++i) {
    std::string tree = query::writePretty(document::toTree(document, tops[i]));
    while (!tree.empty() && tree.back() == '\n') tree.pop_back();
    text += tree;
    text += i + 1 < tops.size() ? ",\n" : "\n";
  }
  return text + "]\n";
}

QStringList localFiles(const QMimeData& data) {
  QStringList paths;
  for (const QUrl& url : data.urls()) {
    if (url.isLocalFile()) paths.append(url.toLocalFile());
  }
  return paths;
}

PastedNodes nodesFromText(const std::string& text) {
  PastedNodes pasted;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    pasted.error = tr("The clipboard has no text");
    return pasted;
  }
  if (!isMeantAsJson(text)) {
    if (std::optional<PastedNodes> other = nodesInOtherForm(text)) return std::move(*other);
    pasted.trees.push_back({query::Message{.role = query::Role::User, .text = text}});
    return pasted;
  }
  // A whole list can be one query: a list of chat messages.
  query::ParseResult whole = query::parseJson(text);
  if (whole.query) {
    pasted.warnings = std::move(whole.diagnostics);
    removeKept(pasted.warnings, document::fromQuery(*whole.query), {});
    pasted.trees.push_back(std::move(*whole.query));
    takeChatList(text, pasted.warnings);
    return pasted;
  }
  const std::optional<std::vector<std::string>> elements = listElements(text);
  for (const std::string& element : elements ? *elements : std::vector<std::string>{text}) {
    query::ParseResult read = query::parseJson(element);
    if (!read.query) {
      pasted.trees.clear();
      pasted.error = reasonOf(read);
      return pasted;
    }
    removeKept(read.diagnostics, document::fromQuery(*read.query), {});
    pasted.trees.push_back(std::move(*read.query));
    for (query::Diagnostic& warning : read.diagnostics) {
      // The line numbers count from the start of the element, so they are dropped.
      warning.position = {};
      pasted.warnings.push_back(std::move(warning));
    }
  }
  if (pasted.trees.empty()) pasted.error = tr("The clipboard has an empty list");
  return pasted;
}

std::vector<NodeId> pasteTrees(Document& document, const std::vector<query::Node>& trees, NodeId selected,
                               document::Point at, const Stacks& stacks) {
  std::vector<NodeId> added;
  std::vector<NodeId> drafts;
  const bool wasEmpty = document.size() == 0;
  const document::NodeId root = document.root();
  AddPlace place = placeFor(document, selected);
  for (const query::Node& tree : trees) {
    const bool first = wasEmpty && added.empty();
    const NodeId top = document::addTree(document, tree, first ? std::nullopt : std::optional(at));
    added.push_back(top);
    at = {.x = at.x + 40, .y = at.y + 40};
    if (place.kind == AddPlace::Kind::Child &&
        connectAt(document, top, {.parent = place.node, .index = place.index})) {
      document::setPosition(document, top, std::nullopt);
      ++place.index;
    } else if (!first) {
      drafts.push_back(top);
    }
  }
  // Drafts come last, because connected nodes have moved the others.
  for (const NodeId draft : drafts) moveToFreePlace(document, draft, stacks);
  if (!wasEmpty && root != kNoNode) document::makeRoot(document, root);
  return added;
}

namespace {

using document::DocumentNode;

bool isPlusNode(const DocumentNode& node) {
  return std::string(query::operatorName(node.own)) == "plus";
}

bool takesMany(const DocumentNode& node) {
  return document::arityOf(node.own).most == document::Arity::kMany;
}

/// kNoNode: there is none.
NodeId plusThatIsMeant(const Document& document, NodeId selected) {
  for (NodeId id = selected; document.contains(id); id = document.at(id).parent) {
    if (isPlusNode(document.at(id))) return id;
  }
  if (document.root() == kNoNode) return kNoNode;
  NodeId only = kNoNode;
  for (const NodeId id : document.subtree(document.root())) {
    if (!isPlusNode(document.at(id))) continue;
    if (only != kNoNode) return kNoNode;
    only = id;
  }
  return only;
}

/// Puts the plus into the query. Returns false if there is no place for it.
bool placePlus(Document& document, NodeId plus, NodeId root) {
  NodeId above = root;
  while (!takesMany(document.at(above))) {
    const DocumentNode& node = document.at(above);
    // An operator with two inputs defines the use of each input.
    if (node.children.size() != 1) return false;
    const NodeId child = node.children.front();
    if (child == kNoNode) return connectAt(document, plus, {.parent = above, .index = 0});
    if (document.at(child).children.empty() && !takesMany(document.at(child))) {
      // A single message is the question. The documents go before it.
      const NodeId cross = document::addNode(document, document::makeOperator("cross"));
      return document::insertAbove(document, child, cross) &&
             connectAt(document, plus, {.parent = cross, .index = 0});
    }
    above = child;
  }
  const std::size_t inputs = document.at(above).children.size();
  return connectAt(document, plus, {.parent = above, .index = inputs == 0 ? 0 : inputs - 1});
}

}  // namespace

std::vector<NodeId> addDocuments(Document& document, const std::vector<TextFile>& files, NodeId selected,
                                 const Stacks& stacks) {
  const NodeId root = document.root();
  NodeId plus = plusThatIsMeant(document, selected);
  bool isDraft = false;
  if (plus == kNoNode) {
    plus = document::addNode(document, document::makeOperator("plus"));
    isDraft = root != kNoNode && !placePlus(document, plus, root);
  }
  std::vector<NodeId> added;
  for (const TextFile& file : files) {
    query::Node message = document::makeOperator("user");
    *query::textOf(message) = file.text;
    const NodeId id = document::addNode(document, std::move(message));
    connectAt(document, id, {.parent = plus, .index = document.at(plus).children.size()});
    document::setName(document, id, file.name);
    added.push_back(id);
  }
  if (root != kNoNode) document::makeRoot(document, root);
  if (isDraft) moveToFreePlace(document, plus, stacks);
  return added;
}

NodeId startQuestion(Document& document) {
  query::Node asked = document::makeOperator("g");
  // The same documents and question then give the same answer.
  query::settingsOf(asked)->temperature = 0.0F;
  const NodeId generate = document::addNode(document, std::move(asked));
  const NodeId cross = document::addNode(document, document::makeOperator("cross"));
  query::Node instructions = document::makeOperator("system");
  *query::textOf(instructions) = "Answer the question. Use only the facts of the documents.";
  const NodeId system = document::addNode(document, std::move(instructions));
  const NodeId plus = document::addNode(document, document::makeOperator("plus"));
  const NodeId question = document::addNode(document, document::makeOperator("user"));
  connectAt(document, cross, {.parent = generate, .index = 0});
  connectAt(document, system, {.parent = cross, .index = 0});
  connectAt(document, plus, {.parent = cross, .index = 1});
  connectAt(document, question, {.parent = cross, .index = 2});
  document::makeRoot(document, generate);
  return question;
}

}  // namespace spanscope::ui
