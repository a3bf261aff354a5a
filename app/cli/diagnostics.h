// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/diagnostic.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace spanscope::cli {

/// Writes one line each: "file:line:column: pointer: message", a warning with the word before its message.
void writeDiagnostics(std::ostream& err, const std::string& name,
                      const std::vector<query::Diagnostic>& diagnostics);

}  // namespace spanscope::cli
