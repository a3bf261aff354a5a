// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/diagnostics.h"

#include "engine/workbench/model_names.h"

#include <algorithm>
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

void warnOfOtherModels(std::ostream& err, const std::string& name, const plan::Plan& plan,
                       const std::string& loaded, const std::vector<std::string>& accepted) {
  for (const plan::Step& step : plan.steps) {
    if (workbench::meansModel(step.model, loaded)) continue;
    if (std::find(accepted.begin(), accepted.end(), step.model) != accepted.end()) continue;
    err << "warning: " << name << " asks for the model " << step.model << "; running it on " << loaded
        << '\n';
    return;
  }
}

}  // namespace spanscope::cli
