// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"
#include "app/cli/query_options.h"
#include "engine/export/export_target.h"
#include "engine/plan/plan.h"
#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
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

/// A query that is about to be written for a target.
struct Outgoing {
  const query::Node& query;
  const exports::ExportTarget& target;
  exports::ExportSettings settings{};
  const std::string& name;  ///< name of the file in messages
  /// The file, if the query's paths still lead to places of its text; else nullptr.
  const QueryFile* file = nullptr;
};

/// Writes to standard error what the target refuses or does differently, one in a line. Returns true if it
/// refuses nothing.
bool warnOfTarget(const Outgoing& outgoing, const Streams& streams);

}  // namespace spanscope::cli
