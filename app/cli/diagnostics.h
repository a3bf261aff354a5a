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

/// Warns if the query names a model that is neither `loaded` nor among `accepted`. The query runs on
/// `loaded`. `name` names the query in the warning.
void warnOfOtherModels(std::ostream& err, const std::string& name, const plan::Plan& plan,
                       const std::string& loaded, const std::vector<std::string>& accepted = {});

/// Warns if the model's chat template was recognized only by its delimiters, see
/// text::TemplateMatch::Markers.
void warnOfGuessedTemplate(std::ostream& err, const workbench::RunSettings& settings);

/// If another policy than the default is better for the model, writes a note with the policy and the reason.
void noteUsualPolicy(std::ostream& err, const workbench::RunSettings& settings);

/// A query that is about to be written for a target.
struct Outgoing {
  const query::Node& query;
  const exports::ExportTarget& target;
  exports::ExportSettings settings{};
  const std::string& name;  ///< name of the file in messages.
  /// The file, if the paths of the query still match places in the text of the file; else nullptr.
  const QueryFile* file = nullptr;
};

/// Writes a line to standard error for each thing that the target refuses or does differently. Returns true
/// if the target refuses nothing.
bool warnOfTarget(const Outgoing& outgoing, const Streams& streams);

}  // namespace spanscope::cli
