// SPDX-License-Identifier: GPL-3.0-or-later
// Unpacks gzip files. Open this file to read a compressed data set.
#pragma once

#include <cstddef>
#include <string>

namespace spanscope::experiment {

/// Returns the contents of a file. These are `bytes` or, if they begin like gzip, the unpacked bytes. Throws
/// Failure with `file` if the bytes are incomplete or damaged. Throws Failure if they unpack to more than
/// `limit` bytes.
std::string unpacked(std::string bytes, const std::string& file, std::size_t limit);

}  // namespace spanscope::experiment
