// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace spanscope::retrieve {

/// XXH3-128 of the bytes as 32 hexadecimal digits: what contents are found by.
std::string contentHash(std::string_view bytes);

}  // namespace spanscope::retrieve
