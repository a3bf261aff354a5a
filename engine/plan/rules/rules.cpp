// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

#include <algorithm>

namespace spanscope::plan {

namespace {

/// Whether `used` + `times` · `each` is at most `limit`; computed without overflow.
bool fits(std::size_t used, std::size_t each, std::size_t times, std::size_t limit) {
  if (used > limit) return false;
  return each == 0 || times <= (limit - used) / each;
}

bool isSameName(std::string_view name, std::string_view given) {
  return std::equal(name.begin(), name.end(), given.begin(), given.end(),
                    [](char a, char b) { return a == b || (a == ' ' && b == '-'); });
}

}  // namespace

bool RewriteState::grow(DraftSize each, std::size_t times) {
  const PlanLimits& limits = m_options->limits;
  if (m_exceeded || !fits(m_size.nodes, each.nodes, times, limits.nodes) ||
      !fits(m_size.textBytes, each.textBytes, times, limits.textBytes)) {
    m_exceeded = true;
    return false;
  }
  m_size.nodes += each.nodes * times;
  m_size.textBytes += each.textBytes * times;
  return true;
}

const std::vector<const Rule*>& rules() {
  static const std::vector<const Rule*> list = {
      &kDropEmptyRule, &kUnwrapRule, &kFlattenRule,  &kFlattenPlusRule, &kExpandRepeatRule,
      &kExpandMapRule, &kZipRule,    &kLocalityRule, &kPrepareRule,     &kDistributeRule,
  };
  return list;
}

const Rule* findRule(std::string_view name) {
  const auto& list = rules();
  const auto found =
      std::ranges::find_if(list, [name](const Rule* rule) { return isSameName(rule->name, name); });
  return found == list.end() ? nullptr : *found;
}

bool isOn(const Rule& rule, const PlanOptions& options) {
  if (&rule == &kDistributeRule && !options.distribute) return false;
  if (&rule == &kLocalityRule && !options.locality.isOn()) return false;
  for (const auto& [name, on] : options.rules) {
    if (findRule(name) == &rule) return on;
  }
  return rule.byDefault != Default::Off;
}

Draft plusInPlaceOf(const Draft& node) {
  Draft plus;
  plus.node = node.node;
  plus.join = query::JoinKind::Plus;
  return plus;
}

Draft generateInPlaceOf(const Draft& node, Draft input, RewriteState& state) {
  Draft generate;
  generate.op = query::kIndexOf<query::Generate>;
  generate.node = node.node;
  generate.settings = node.settings;
  generate.form = node.form;
  generate.call = state.newCall();
  generate.children.push_back(std::move(input));
  return generate;
}

void giveOwnCalls(Draft& draft, RewriteState& state) {
  if (draft.is<query::Generate>()) draft.call = state.newCall();
  for (Draft& child : draft.children) giveOwnCalls(child, state);
}

}  // namespace spanscope::plan
