// SPDX-License-Identifier: GPL-3.0-or-later
// What people read and write of comparisons of reuse policies.
#pragma once

#include "engine/workbench/service/policy_comparison.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

using workbench::MeasuredPolicy;
using workbench::PolicyComparison;

/// What a person asks for, as the argument of the command "run.policies": "run", or "choose:prefix;link".
struct PolicyRequest {
  bool starts = false;               ///< the comparison
  std::optional<QStringList> names;  ///< the policies to be compared from now on, beside the document's own
  bool operator==(const PolicyRequest&) const = default;
};
QString policyRequest(const PolicyRequest& request);
/// A text that is no such argument asks for nothing.
PolicyRequest readPolicyRequest(const QString& text);

/// The names of the policies that are compared where a person has chosen none.
std::vector<std::string> usualPolicies();
/// Those of the names that are policies, in the order in which policies are offered.
std::vector<std::string> knownPolicies(const QStringList& names);
/// What is compared, as documents write it: the document's own policy first, with its values, then the wanted
/// ones with their standard values.
std::vector<std::string> comparedPolicies(const std::string& own, const std::vector<std::string>& wanted);

/// What the comparison is doing now, in words: "Policies: link(16), 3 of 5, compared with a full prefill".
QString progressText(const PolicyComparison& comparison);

}  // namespace spanscope::ui
