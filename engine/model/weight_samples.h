// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/hash.h"

#include <cstddef>
#include <span>

namespace spanscope::model {

/// Adds what tells the data of one tensor from that of another: small tensors whole, large ones in evenly
/// spaced pieces, because reading gigabytes would cost more than loading them.
void addSamples(Digest& digest, std::span<const std::byte> data);

}  // namespace spanscope::model
