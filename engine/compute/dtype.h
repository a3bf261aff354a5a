// SPDX-License-Identifier: GPL-3.0-or-later
// The types of numbers in tensors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spanscope::compute {

enum class DType : std::uint8_t { F32, F16, BF16 };
std::size_t sizeOf(DType type);  ///< bytes
const char* nameOf(DType type);

}  // namespace spanscope::compute
