// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"

namespace spanscope::compute {

/// What every backend asks of the shape of keys and values. Throws Failure, which names what is wrong, unless
/// there is a layer, a block of 1 to 1024 slots and a head of an even number of elements, their type is f32
/// or bf16, and all of them together can be counted in bytes.
void checkKvShape(const KvShape& shape);

/// Throws Failure unless the store has this block with so many slots, and they are so many bytes in host
/// memory.
void checkHostBlock(const KvShape& shape, BlockId block, std::int32_t slots, std::size_t bytes);

}  // namespace spanscope::compute
