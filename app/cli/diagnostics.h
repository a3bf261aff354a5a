// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/plan.h"
#include "engine/query/diagnostic.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace spanscope::cli {

/// Writes one line each: "file:line:column: pointer: message", a warning with the word before its message.
void writeDiagnostics(std::ostream& err, const std::string& name,
                      const std::vector<query::Diagnostic>& diagnostics);

/// Warns where the query of that name asks for another model than the one that it runs on, and that is none
/// of those accepted.
void warnOfOtherModels(std::ostream& err, const std::string& name, const plan::Plan& plan,
                       const std::string& loaded, const std::vector<std::string>& accepted = {});

}  // namespace spanscope::cli
