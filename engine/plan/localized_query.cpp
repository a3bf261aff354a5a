// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/localized_query.h"

#include "engine/plan/draft.h"
#include "engine/plan/rewriting.h"
#include "engine/plan/rules/rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::plan {
namespace {

query::GenerateSettings settingsOf(const DraftSettings& settings) {
  query::GenerateSettings result;
  result.model = settings.model;
  if (settings.maxTokens) result.maxTokens = *settings.maxTokens;
  result.temperature = settings.temperature;
  return result;
}

/// Sets the fields of an operator from its draft.
class FieldFiller {
 public:
  explicit FieldFiller(const Draft& draft) : m_draft(draft) {}

  void operator()(const query::FieldInfo& /*info*/, std::string& text) { text = m_draft.text; }
  void operator()(const query::FieldInfo& /*info*/, query::Times& count) {
    count = static_cast<std::uint8_t>(std::min(m_draft.count, 255U));
  }
  void operator()(const query::FieldInfo& /*info*/, query::GenerateSettings& settings) {
    settings = settingsOf(m_draft.settings);
  }
  void operator()(const query::FieldInfo& /*info*/, query::Generate& generate) {
    query::visitGroup(generate, *this);
  }
  void operator()(const query::FieldInfo& /*info*/, std::vector<std::string>& texts) {
    texts = m_draft.inputs;
  }
  void operator()(const query::FieldInfo& /*info*/, query::SettingField auto& /*setting*/) {}
  void operator()(const query::FieldInfo& /*info*/, query::DocumentField auto& /*document*/) {}
  void operator()(const query::FieldInfo& /*info*/, query::ChildField auto& /*child*/) {}
  void operator()(const query::FieldInfo& /*info*/, query::ChildrenField auto& /*children*/) {}

 private:
  const Draft& m_draft;
};

query::Node toQuery(const Draft& draft, const NodePath& path, std::map<NodePath, NodePath>& origins) {
  origins.emplace(path, draft.node);
  query::Node node = query::makeOperator(draft.name());
  query::visitFields(node, FieldFiller(draft));
  // The steps that lead to children are the operator's own: asked of a node that has as many.
  const query::Node shape = query::withChildren(node, std::vector<query::Node>(draft.children.size()));
  const std::vector<query::ChildRef> steps = query::childrenOf(shape);
  std::vector<query::Node> children;
  children.reserve(draft.children.size());
  for (std::size_t i = 0; i < draft.children.size(); ++i)
    children.push_back(toQuery(draft.children[i], path + steps[i].step, origins));
  return query::withChildren(std::move(node), std::move(children));
}

}  // namespace

LocalizedQuery localizedQuery(const query::Node& query, const LocalityOptions& locality) {
  LocalizedQuery result;
  PlanOptions options;
  options.locality = locality;
  // A written-out zip would run its repeated part in every place, so zips stay. Flattening is left to the
  // target.
  for (const Rule* rule : rules()) {
    options.rules[std::string(rule->name)] = rule == &kLocalityRule || rule == &kExpandRepeatRule ||
                                             rule == &kExpandMapRule || rule == &kFlattenPlusRule;
  }
  checkRules(options, result.problems);
  Draft draft =
      makeDraft(query, options.temperature, OutputForm::Anew, options.limits.depth, result.problems);
  if (!result.problems.empty()) return result;
  Plan plan;
  rewrite(draft, options, plan, result.problems);
  if (result.problems.empty()) result.query = toQuery(draft, {}, result.origins);
  return result;
}

}  // namespace spanscope::plan
