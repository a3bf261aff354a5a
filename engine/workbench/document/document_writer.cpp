// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/json_text.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>
#include <variant>

namespace spanscope::document {
namespace {

using Json = nlohmann::ordered_json;

/// The query on indented lines that begin `depth` deep, without a line break at the end.
std::string indented(const query::Node& tree, std::size_t depth) {
  std::string text = query::writePretty(tree);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (const char c : text) {
    out += c;
    if (c == '\n') out.append(2 * depth, ' ');
  }
  return out;
}

query::Node emptySeq() {
  return {query::Join{.kind = query::JoinKind::Seq, .children = {}}};
}

Json numbers(const Rect& area) {
  return Json::array({area.x, area.y, area.width, area.height});
}

Json looksOf(const DocumentNode& node) {
  Json looks = Json::object();
  if (node.position && std::isfinite(node.position->x) && std::isfinite(node.position->y)) {
    looks["position"] = Json::array({node.position->x, node.position->y});
  }
  for (const Point& bend : node.bends) looks["bends"].push_back(Json::array({bend.x, bend.y}));
  if (!node.name.empty()) looks["name"] = node.name;
  if (node.collapsed) looks["collapsed"] = true;
  if (node.muted) looks["muted"] = true;
  if (node.frozen.size() == 1)
    looks["frozen"] = node.frozen.front();
  else if (node.isFrozen())
    looks["frozen"] = node.frozen;
  if (!node.server.empty()) looks["server"] = node.server;
  if (query::documentOf(node.own) == nullptr) return looks;
  for (const auto& [hash, mark] : node.passages)
    looks[mark == PassageMark::Pinned ? "pinned" : "dropped"].push_back(hash);
  return looks;
}

/// One line for each node that has looks.
std::string nodesText(const Document& document, NodeId top, const std::string& indent) {
  std::string out;
  for (const auto& [path, id] : pathsInTree(document, top)) {
    Json looks = id == kNoNode ? Json{{"missing", true}} : looksOf(document.at(id));
    if (looks.empty()) continue;
    out += out.empty() ? "{\n" : ",\n";
    out += indent + "  " + compactJson(Json(path)) + ": " + compactJson(looks);
  }
  return out.empty() ? "{}" : out + "\n" + indent + "}";
}

/// One line for each element.
std::string listText(const std::vector<Json>& elements, const std::string& indent) {
  std::string out;
  for (const Json& element : elements) {
    out += out.empty() ? "[\n" : ",\n";
    out += indent + "  " + compactJson(element);
  }
  return out.empty() ? "[]" : out + "\n" + indent + "]";
}

Json settingsJson(const RunSettings& settings) {
  Json json;
  const RunSettings usual;
  for (const workbench::Setting& setting : workbench::runSettings()) {
    std::visit(
        [&](auto member) {
          // Programs that do not know the setting can then read all other documents.
          if (setting.onlyWhereChosen && settings.*member == usual.*member) return;
          json[std::string(setting.key)] = settings.*member;
        },
        setting.member);
  }
  return json;
}

/// A parameter with only a value is written as a text. A parameter with a declaration is written as an
/// object.
Json parametersJson(const Document& document) {
  Json json = Json::object();
  for (const query::ParameterDeclaration& declaration : document.declarations) {
    Json& entry = json[declaration.name];
    if (declaration.kind) entry["type"] = query::parameterKindName(*declaration.kind);
    if (declaration.defaultValue) entry["default"] = *declaration.defaultValue;
    if (!declaration.description.empty()) entry["description"] = declaration.description;
  }
  for (const auto& [name, value] : document.parameters) {
    const auto declared = json.find(name);
    if (declared == json.end())
      json[name] = value;
    else
      (*declared)["value"] = value;
  }
  return json;
}

void addPaths(const Document& document, NodeId id, const std::string& path,
              std::vector<std::pair<std::string, NodeId>>& paths) {
  paths.emplace_back(path, id);
  if (id == kNoNode) return;
  const DocumentNode& node = document.at(id);
  if (node.children.empty()) return;
  // The operator gives the path steps to its children. The node here has the same number of children.
  const query::Node shape = query::withChildren(node.own, std::vector<query::Node>(node.children.size()));
  std::size_t i = 0;
  query::forEachChild(shape, [&](const query::Node& /*child*/, const std::string& step) {
    addPaths(document, node.children[i++], path + step, paths);
  });
}

}  // namespace

std::vector<std::pair<std::string, NodeId>> pathsInTree(const Document& document, NodeId top) {
  std::vector<std::pair<std::string, NodeId>> paths;
  addPaths(document, document.contains(top) ? top : kNoNode, {}, paths);
  return paths;
}

std::string writeDocument(const Document& document) {
  const NodeId root = document.root();
  std::string out = "{\n  \"spanscope\": {\"version\": " + std::to_string(kDocumentVersion) + "},\n";
  out += "  \"query\": " + indented(root == kNoNode ? emptySeq() : toTree(document, root), 1) + ",\n";

  out += "  \"layout\": {\n    \"nodes\": " + nodesText(document, root, "    ");
  std::vector<Json> frames;
  for (const Frame& frame : document.frames) {
    frames.push_back(Json{{"title", frame.title}, {"area", numbers(frame.area)}, {"hue", frame.hue}});
  }
  out += ",\n    \"frames\": " + listText(frames, "    ");
  std::vector<Json> notes;
  for (const Note& note : document.notes)
    notes.push_back(Json{{"text", note.text}, {"area", numbers(note.area)}});
  out += ",\n    \"notes\": " + listText(notes, "    ") + "\n  },\n";

  out += "  \"parameters\": " + compactJson(parametersJson(document)) + ",\n";
  out += "  \"settings\": " + compactJson(settingsJson(document.settings)) + ",\n";

  std::string drafts;
  for (const NodeId top : document.tops()) {
    if (top == root) continue;
    drafts += drafts.empty() ? "[\n" : ",\n";
    drafts += "    {\n      \"query\": " + indented(toTree(document, top), 3) + ",\n";
    drafts += "      \"layout\": {\n        \"nodes\": " + nodesText(document, top, "        ") +
              "\n      }\n    }";
  }
  out += "  \"drafts\": " + (drafts.empty() ? std::string("[]") : drafts + "\n  ]") + "\n}\n";
  return out;
}

}  // namespace spanscope::document
