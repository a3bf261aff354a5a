// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace spanscope::experiment {

/// The contents of a file: `bytes` themselves or, if they begin like gzip, the unpacked bytes. Throws Failure
/// with `file` if the bytes are cut short or damaged, or unpack to more than `limit` bytes.
std::string unpacked(std::string bytes, const std::string& file, std::size_t limit);

}  // namespace spanscope::experiment
