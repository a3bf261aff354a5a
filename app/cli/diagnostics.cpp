// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/diagnostics.h"

#include <ostream>

namespace spanscope::cli {

void writeDiagnostics(std::ostream& err, const std::string& name,
                      const std::vector<query::Diagnostic>& diagnostics) {
  for (const query::Diagnostic& diagnostic : diagnostics) {
    std::string line = diagnostic.located(name);
    if (diagnostic.severity == Severity::Warning) {
      line.insert(line.size() - diagnostic.message().size(), "warning: ");
    }
    err << line << '\n';
  }
}

}  // namespace spanscope::cli
