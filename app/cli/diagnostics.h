// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/plan.h"
#include "engine/query/diagnostic.h"
#include "engine/workbench/settings.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace spanscope::cli {

/// Writes one line for each diagnostic: "file:line:column: pointer: message". A warning has the word
/// "warning" before its message.
void writeDiagnostics(std::ostream& err, const std::string& name,
                      const std::vector<query::Diagnostic>& diagnostics);

/// Warns if the query asks for another model than `loaded`, on which it runs, and that model is not among
/// `accepted`. `name` names the query in the warning.
void warnOfOtherModels(std::ostream& err, const std::string& name, const plan::Plan& plan,
                       const std::string& loaded, const std::vector<std::string>& accepted = {});

/// Warns of a model whose chat template is told by its marks alone.
void warnOfGuessedTemplate(std::ostream& err, const workbench::RunSettings& settings);

/// Says that the model runs with another policy than the default, and why, if that is its usual policy.
void noteUsualPolicy(std::ostream& err, const workbench::RunSettings& settings);

}  // namespace spanscope::cli
