// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace spanscope::experiment {

/// What a file holds: `bytes` as they are, or, where they begin as gzip does, what is packed in them. Throws
/// Failure with `file` where they are cut short or damaged, or unpack to more than `limit` bytes.
std::string unpacked(std::string bytes, const std::string& file, std::size_t limit);

}  // namespace spanscope::experiment
