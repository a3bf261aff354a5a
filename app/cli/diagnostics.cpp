// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/diagnostics.h"

#include "engine/base/error.h"
#include "engine/model/config.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/model_problem.h"
#include "engine/workbench/run_options.h"

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
    if (std::ranges::find(accepted, step.model) != accepted.end()) continue;
    err << "warning: " << name << /*id:asks-model*/ " requests the model " << step.model
        << "; the model of this run is " << loaded << '\n';
    return;
  }
}

void warnOfGuessedTemplate(std::ostream& err, const workbench::RunSettings& settings) {
  const std::string name = workbench::guessedTemplate(settings);
  if (name.empty()) return;
  err << /*id:warning-chat-template*/ "warning: the chat template of "
      << workbench::modelDirectoryOf(settings).filename().string()
      << /*id:not-known-marks*/ " is unknown; the delimiters suggest " << name
      << ". To see the template: spanq model show. To choose a template: --template NAME\n";
}

void noteUsualPolicy(std::ostream& err, const workbench::RunSettings& settings) {
  const std::string usual = workbench::standardPolicy();
  if (settings.policy == usual || settings.policy != workbench::usualPolicyOf(settings)) return;
  err << "note: " << workbench::modelNameOf(settings)
      << " was not trained for block attention, so it runs with the policy " << settings.policy
      << ". --policy " << usual << " reuses more and answers less accurately";
  try {
    const auto adapter = workbench::offeredAdapter(model::readConfig(workbench::modelDirectoryOf(settings)));
    if (adapter)
      err << "; with --adapter " << adapter->directory.string()
          << " the answers are closer to a full prefill";
  } catch (const Failure&) {
    // Loading the model reports the error.
  }
  err << '\n';
}

namespace {

/// "file:line:column: pointer: " of the first place, as in diagnostics.
std::string placeOf(const exports::TargetRemark& remark, const Outgoing& outgoing) {
  query::Diagnostic diagnostic;
  if (!remark.places.empty()) diagnostic.pointer = remark.places.front();
  if (outgoing.file != nullptr) locate(diagnostic, *outgoing.file);
  return diagnostic.located(outgoing.name);
}

}  // namespace

bool warnOfTarget(const Outgoing& outgoing, const Streams& streams) {
  bool isTaken = true;
  for (const exports::TargetRemark& remark :
       exports::exportRemarks(outgoing.query, outgoing.target, outgoing.settings)) {
    if (remark.effect == exports::Effect::Note) continue;
    const bool isRefused = remark.effect == exports::Effect::Refused;
    if (isRefused) isTaken = false;
    // A form of the whole query is still written. A request that would be sent is not written.
    const bool isError = isRefused && (outgoing.target.isRequest || outgoing.settings.isSentHere);
    streams.err << placeOf(remark, outgoing) << (isError ? "error: " : "warning: ") << remark.text << '\n';
  }
  return isTaken;
}

}  // namespace spanscope::cli
