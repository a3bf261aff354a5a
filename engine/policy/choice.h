// SPDX-License-Identifier: GPL-3.0-or-later
// Defines a choice: a policy with the values of its parameters. Each run has a choice. Documents, options and
// traces write a choice as "spans", "link(16)" or "blend(0.15,by=values)". Open this file to change how a
// policy is written or parsed.
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
  /// The default policy with the default values of its parameters.
  Choice();
  /// The policy with the default values of its parameters.
  Choice(const Policy& policy);  // NOLINT(google-explicit-constructor): a policy is such a choice.
  /// `values`: one for each parameter, in its range. Throws std::logic_error for other values.
  Choice(const Policy& policy, std::vector<double> values);

  const Policy& policy() const { return *m_policy; }
  std::span<const double> values() const { return m_values; }

  /// Returns the choice as text. The first value is always written, the other values only if they are not
  /// defaults.
  std::string name() const;
  /// Like Policy::exactness, for these values.
  const char* exactness() const;
  layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                           layout::MessageRenderer& renderer) const {
    return m_policy->layOut(step, outputs, renderer, m_values);
  }

  /// Throws Failure if a model with this number of layers cannot run with these values.
  void checkFor(std::int32_t layers) const;

  /// Like Policy::planRows.
  ComputePlan planRows(const layout::SpanTable& table, bool isInTeam) const {
    return m_policy->planRows == nullptr ? ComputePlan{} : m_policy->planRows(table, m_values, isInTeam);
  }

  bool operator==(const Choice&) const = default;

 private:
  const Policy* m_policy;
  std::vector<double> m_values;
};

/// The reason why a text is not a choice.
struct ChoiceProblem {
  /// The policy at the beginning of the text, or nullptr if the name is unknown.
  const Policy* policy = nullptr;
  /// The expected text: "link(n): a whole number from 0, or all".
  std::string expected;
};

/// Reads the text of `name()` and input of the user. The text is the name of a policy, then the values of its
/// parameters in parentheses, in order. Later values may also be written as name=value. A missing parameter
/// has its default value.
std::variant<Choice, ChoiceProblem> readChoice(std::string_view text);

/// Like readChoice(), but returns nothing if the text is not a choice.
std::optional<Choice> findChoice(std::string_view text);

/// Returns the values of the choice as text, as between the parentheses of `name()`.
std::string valuesText(const Choice& choice);
/// Reads the values of a policy from text, as between the parentheses of `name()`.
std::variant<Choice, ChoiceProblem> readValues(const Policy& policy, std::string_view text);

}  // namespace spanscope::policy
