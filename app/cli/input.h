// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <iosfwd>
#include <string>

namespace spanscope::cli {

/// The bytes of a file, or of `in` for "-": never more than one byte beyond what a query may have, so that
/// the reader of queries can say that it is too long. Throws Failure if it cannot be read.
std::string readInput(const std::string& file, std::istream& in);

/// What a file is called in messages, on one line: "-" is standard input.
std::string inputName(const std::string& file);

}  // namespace spanscope::cli
