// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace spanscope::cuda {

/// The upper half of an f32. device.h has the conversions for kernels, engine/compute/dtype.h those for
/// hosts.
struct Bf16 {
  std::uint16_t bits;  ///< uninitialised by default, as memory of the card is
  bool operator==(const Bf16&) const = default;
};
static_assert(sizeof(Bf16) == 2);

}  // namespace spanscope::cuda
