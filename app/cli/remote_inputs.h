// SPDX-License-Identifier: GPL-3.0-or-later
// A job of `spanq remote run`: one query for each line of a file of inputs, several at the same time, with a
// journal. A killed job continues after its last finished line.
#pragma once

#include "app/cli/remote_query.h"

#include <cstddef>

namespace spanscope::cli {

/// Max number of lines that are scheduled together.
inline constexpr std::size_t kMostScheduled = 1000;

/// Runs the query once for each line of `options.inputs`, several lines at the same time. Writes the results
/// to `options.results`, in the order of the lines. Lines that have a result in the journal are not sent
/// again.
ExitCode runOverInputs(const Context& context, const RemoteRunOptions& options);

}  // namespace spanscope::cli
