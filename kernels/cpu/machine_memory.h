// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace spanscope::cpu {

/// Bytes of memory that this machine has, or that the program's control group may use if that is less. 0 if
/// this cannot be found out.
std::uint64_t machineMemory();

}  // namespace spanscope::cpu
