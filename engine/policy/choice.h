// SPDX-License-Identifier: GPL-3.0-or-later
// A policy with the values of its parameters. A run is given such a choice. Documents, options and traces
// write it as "spans", "link(16)" or "blend(0.15,by=values)".
#pragma once

#include "engine/policy/policy.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::policy {

class Choice {
 public:
  /// The standard policy with the standard values of its parameters.
  Choice();
  /// The policy with the standard values of its parameters.
  Choice(const Policy& policy);  // NOLINT(google-explicit-constructor): a policy is such a choice.
  /// `values`: one for each parameter, in its range. Else throws std::logic_error.
  Choice(const Policy& policy, std::vector<double> values);

  const Policy& policy() const { return *m_policy; }
  std::span<const double> values() const { return m_values; }

  /// The choice as people write it: the first parameter always, the others only if they are not standard.
  std::string name() const;
  /// As Policy::exactness, for these values.
  const char* exactness() const;
  layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                           layout::MessageRenderer& renderer) const {
    return m_policy->layOut(step, outputs, renderer, m_values);
  }

  /// Throws Failure if a model with so many layers cannot run with these values.
  void checkFor(std::int32_t layers) const;

  /// As Policy::planRows.
  RowPlan planRows(const layout::SpanTable& table, bool isInTeam) const {
    return m_policy->planRows == nullptr ? RowPlan{} : m_policy->planRows(table, m_values, isInTeam);
  }

  bool operator==(const Choice&) const = default;

 private:
  const Policy* m_policy;
  std::vector<double> m_values;
};

/// Why a text does not name a choice.
struct ChoiceProblem {
  /// The policy that the text begins with; nullptr if there is no policy of that name.
  const Policy* policy = nullptr;
  /// What was expected: "link(n): a whole number from 0, or all".
  std::string expected;
};

/// Reads what `name()` writes and what people type: the name of a policy, and in brackets the values of its
/// parameters in their order. Later values may also be written as name=value. A parameter that is left out
/// has its standard value.
std::variant<Choice, ChoiceProblem> readChoice(std::string_view text);

/// Like readChoice(), but returns nothing if the text does not name a choice.
std::optional<Choice> findChoice(std::string_view text);

/// The values as they are written between the brackets.
std::string valuesText(const Choice& choice);
/// Reads values as they are written between the brackets.
std::variant<Choice, ChoiceProblem> readValues(const Policy& policy, std::string_view text);

}  // namespace spanscope::policy
