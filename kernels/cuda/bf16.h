// SPDX-License-Identifier: GPL-3.0-or-later
// Defines bf16 for host and GPU code. Open this file to pass bf16 between host and GPU.
#pragma once

#include <cstdint>

namespace spanscope::cuda {

/// The upper half of an f32. The conversions for kernels are in device.h. The conversions for the host are in
/// engine/compute/dtype.h.
struct Bf16 {
  std::uint16_t bits;  ///< uninitialised by default, like memory of the GPU
  bool operator==(const Bf16&) const = default;
};
static_assert(sizeof(Bf16) == 2);

}  // namespace spanscope::cuda
