// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/localized_query.h"

#include "engine/plan/draft.h"
#include "engine/plan/rewriting.h"
#include "engine/plan/rules/rules.h"

#include <algorithm>
#include <utility>

namespace spanscope::plan {
namespace {

query::GenerateSettings settingsOf(const DraftSettings& settings) {
  query::GenerateSettings result;
  result.model = settings.model;
  if (settings.maxTokens) result.maxTokens = *settings.maxTokens;
  result.temperature = settings.temperature;
  return result;
}

query::Node toQuery(const Draft& draft) {
  switch (draft.kind) {
    case Draft::Kind::Message:
      return {query::Message{draft.role, draft.text}};
    case Draft::Kind::Print:
      return {query::Print{draft.text}};
    case Draft::Kind::Join: {
      query::Join join{draft.join, {}};
      join.children.reserve(draft.children.size());
      for (const Draft& child : draft.children) join.children.push_back(toQuery(child));
      return {std::move(join)};
    }
    case Draft::Kind::Generate:
      return {query::Generate{settingsOf(draft.settings), toQuery(draft.input())}};
    case Draft::Kind::Monad:
      return {query::Monad{toQuery(draft.children.front())}};
    case Draft::Kind::Zip:
      return {query::Zip{toQuery(draft.children[0]), toQuery(draft.children[1])}};
    case Draft::Kind::Repeat:
      return {query::Repeat{static_cast<std::uint8_t>(std::min(draft.count, 255U)),
                            {settingsOf(draft.settings), toQuery(draft.input())}}};
    case Draft::Kind::Map:
      return {query::Map{settingsOf(draft.settings), draft.inputs}};
  }
  return {};
}

}  // namespace

LocalizedQuery localizedQuery(const query::Node& query, const LocalityOptions& locality) {
  LocalizedQuery result;
  PlanOptions options;
  options.locality = locality;
  // A zip that was written out would run what it repeats in every place; flattening is the target's business.
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
  if (result.problems.empty()) result.query = toQuery(draft);
  return result;
}

}  // namespace spanscope::plan
