// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"

#include <string>

namespace spanscope::cli {

/// The bytes of a file, which may be a pipe or a terminal, or of standard input for "-": never more than one
/// byte beyond what a query may have, so that the reader of queries can say that it is too long. Throws
/// Failure if it cannot be read, or if the program is asked to stop before all of it was.
std::string readInput(const std::string& file, const Streams& streams);

/// What a file is called in messages, on one line: "-" is standard input.
std::string inputName(const std::string& file);

}  // namespace spanscope::cli
