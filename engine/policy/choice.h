// SPDX-License-Identifier: GPL-3.0-or-later
// A policy with the values of its parameters: what a run is given, and what documents, options and traces
// write as "spans", "link(16)" or "blend(0.15,by=values)".
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
  /// The standard policy.
  Choice();
  /// With the standard values of its parameters.
  Choice(const Policy& policy);  // NOLINT(google-explicit-constructor): a policy is such a choice.
  /// `values`: one for each parameter, each in its range (std::logic_error else).
  Choice(const Policy& policy, std::vector<double> values);

  const Policy& policy() const { return *m_policy; }
  std::span<const double> values() const { return m_values; }

  /// As it is written: the first parameter always, others where they are not the standard.
  std::string name() const;
  /// As Policy::exactness, for these values.
  const char* exactness() const;
  layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                           layout::MessageRenderer& renderer) const {
    return m_policy->layOut(step, outputs, renderer, m_values);
  }

  /// Throws Failure where a model of so many layers cannot run with these values.
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

/// Why a text is no choice.
struct ChoiceProblem {
  /// The policy that it begins with; nullptr if there is none of that name.
  const Policy* policy = nullptr;
  /// What was expected: "link(n): a whole number from 0, or all".
  std::string expected;
};

/// What `name()` writes and people type: a policy's name, and in brackets the values of its parameters in
/// their order, later ones also as name=value. What is left out is as the standard.
std::variant<Choice, ChoiceProblem> readChoice(std::string_view text);

/// The same; nothing where the text is no choice.
std::optional<Choice> findChoice(std::string_view text);

/// Values as they are written between the brackets, and read from there.
std::string valuesText(const Choice& choice);
std::variant<Choice, ChoiceProblem> readValues(const Policy& policy, std::string_view text);

}  // namespace spanscope::policy
