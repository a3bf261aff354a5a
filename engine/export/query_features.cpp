// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/export/query_features.h"

#include "engine/query/node_parts.h"
#include "engine/query/parameters.h"
#include "engine/spnl/backends.h"
#include "engine/spnl/model_name.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace spanscope::exports {
namespace {

using query::Node;

/// What stands around a node.
struct Around {
  const query::GenerateSettings* generate = nullptr;  ///< whose prompt it is part of; none outside
  bool isFirst = true;                                ///< nothing of the prompt stands before it
  bool inPlus = false;                                ///< directly
  bool isDropped = false;                             ///< in a monad: no answer holds it
};

/// The role of the messages that simplify makes the inputs of a map; the user's where it makes none.
query::Role roleOfMap(const query::Join& join) {
  constexpr query::Role kKept = query::Role::User;
  if (join.kind != query::JoinKind::Plus || join.children.size() < 2) return kKept;
  const query::GenerateSettings* first = query::settingsOf(join.children.front());
  if (first == nullptr || !spnl::supportsBulkMap(first->model)) return kKept;
  query::Role role = kKept;
  for (const Node& child : join.children) {
    const auto* generate = child.as<query::Generate>();
    const auto* message = generate == nullptr ? nullptr : generate->input->as<query::Message>();
    if (message == nullptr || generate->settings != *first) return kKept;
    if (&child == &join.children.front()) role = message->role;
    if (message->role != role) return kKept;
  }
  return role;
}

class Finder {
 public:
  void visit(const Node& node, const NodePath& path, const Around& around) {
    if (const query::GenerateSettings* settings = query::settingsOf(node)) {
      visitSettings(*settings, path);
      if (around.generate != nullptr) add(Feature::InnerGenerate, path);
      const bool isShared = around.inPlus && around.generate != nullptr &&
                            query::generateOf(node) != nullptr && settings->model == around.generate->model;
      if (isShared) add(Feature::SharedPrompt, path);
      if (query::infoOf(node).resolvedBy == query::ResolvedBy::Rule) addOperator(node, path);
      visitChildren(node, path, {.generate = settings, .isDropped = around.isDropped});
      return;
    }
    if (const auto* message = node.as<query::Message>()) {
      visitMessage(*message, path, around);
    } else if (const auto* join = node.as<query::Join>()) {
      visitJoin(*join, path, around);
    } else {
      addOperator(node, path);
    }
    Around within = around;
    if (query::infoOf(node).gives == query::Gives::Nothing) within = {.isDropped = true};
    const auto* join = node.as<query::Join>();
    within.inPlus = join != nullptr && join->kind == query::JoinKind::Plus;
    visitChildren(node, path, within);
  }

  void parameters(const Node& root) {
    for (const query::ParameterUse& use : query::findParameters(root)) {
      const bool isText = use.kind == query::ParameterKind::Text;
      add(isText ? Feature::TextParameter : Feature::NumberParameter, use.node, use.name);
    }
  }

  void add(Feature feature, const NodePath& path, const std::string& name = {}) {
    const auto [known, isNew] = m_indices.emplace(std::pair(feature, name), m_found.size());
    if (isNew) m_found.push_back({feature, name, {}});
    m_found[known->second].places.push_back(path);
  }

  std::vector<FoundFeature> take() { return std::move(m_found); }

 private:
  void visitChildren(const Node& node, const NodePath& path, Around around) {
    query::forEachChild(node, [&](const Node& child, const std::string& step) {
      visit(child, path + step, around);
      around.isFirst = false;
    });
  }

  void visitSettings(const query::GenerateSettings& settings, const NodePath& path) {
    if (std::holds_alternative<query::Absent>(settings.temperature)) add(Feature::NoTemperature, path);
    if (std::holds_alternative<query::Absent>(settings.maxTokens)) add(Feature::NoMaxTokens, path);
    if (std::holds_alternative<query::Null>(settings.temperature)) add(Feature::NullTemperature, path);
    if (std::holds_alternative<query::Null>(settings.maxTokens)) add(Feature::NullMaxTokens, path);
    const auto* temperature = std::get_if<float>(&settings.temperature);
    if (temperature != nullptr && (!std::isfinite(*temperature) || *temperature < 0)) {
      add(Feature::WrongTemperature, path);
    }
    if (settings.model.empty()) {
      add(Feature::NoModel, path);
    } else if (spnl::providerOf(settings.model).empty()) {
      add(Feature::NoProvider, path, settings.model);
    } else if (spnl::supportsSpans(settings.model)) {
      add(Feature::SpanProvider, path, std::string(spnl::nameWithoutProvider(settings.model)));
    } else {
      add(Feature::OtherProvider, path, settings.model);
    }
  }

  void visitMessage(const query::Message& message, const NodePath& path, const Around& around) {
    if (message.text.empty()) return;
    if (around.generate == nullptr) {
      if (!around.isDropped) add(Feature::OutsideMessage, path);
    } else if (message.role == query::Role::Assistant) {
      add(Feature::AssistantMessage, path);
    }
  }

  void visitJoin(const query::Join& join, const NodePath& path, const Around& around) {
    const bool isAlone = around.isFirst && join.children.size() < 2;
    if (join.kind == query::JoinKind::Plus && around.generate != nullptr && !isAlone &&
        !join.children.empty()) {
      add(Feature::Plus, path);
    }
    if (join.kind == query::JoinKind::Cross && around.generate != nullptr && join.children.size() > 1) {
      add(Feature::Cross, path);
    }
    if (roleOfMap(join) != query::Role::User) add(Feature::LostRole, path);
  }

  void addOperator(const Node& node, const NodePath& path) {
    add(Feature::Operator, path, query::operatorName(node));
  }

  std::vector<FoundFeature> m_found;
  std::map<std::pair<Feature, std::string>, std::size_t> m_indices;
};

}  // namespace

std::vector<FoundFeature> findFeatures(const Node& query) {
  Finder finder;
  if (query::settingsOf(query) == nullptr) finder.add(Feature::NotAGenerate, {}, query::operatorName(query));
  finder.parameters(query);
  finder.visit(query, {}, {});
  return finder.take();
}

}  // namespace spanscope::exports
