// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace spanscope::cpu {

/// Bytes of memory that this machine has, or that the program's control group may take where that is less; 0
/// where it cannot be found out.
std::uint64_t machineMemory();

}  // namespace spanscope::cpu
