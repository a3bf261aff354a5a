// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"
#include "app/cli/query_options.h"
#include "engine/export/export_target.h"
#include "engine/query/query.h"

#include <string>

namespace spanscope::cli {

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
