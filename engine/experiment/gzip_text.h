// SPDX-License-Identifier: GPL-3.0-or-later
// Unpacks gzip files. Open this file to read a compressed data set.
#pragma once

#include <cstddef>
#include <string>

namespace spanscope::experiment {

/// Returns the contents of a file: `bytes`, or the unpacked bytes if `bytes` begin like gzip. Throws Failure
/// with `file` if the bytes are incomplete or damaged. Throws Failure if the unpacked contents exceed `limit`
/// bytes.
std::string unpacked(std::string bytes, const std::string& file, std::size_t limit);

}  // namespace spanscope::experiment
