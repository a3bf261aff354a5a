// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"

#include <cstddef>
#include <string>

namespace spanscope::cli {

/// Reads the bytes of a file, which may be a pipe or a terminal; "-" is standard input. It reads at most one
/// byte more than a query may have, so that the parser can say that the query is too long. Throws Failure if
/// the file cannot be read, or if the program is asked to stop before all of it was read.
std::string readInput(const std::string& file, const Streams& streams);
/// The same for a file of at most `most` bytes. Throws Failure if it has more.
std::string readInput(const std::string& file, const Streams& streams, std::size_t most);

/// The name of a file in messages, on one line. "-" becomes "standard input".
std::string inputName(const std::string& file);

}  // namespace spanscope::cli
