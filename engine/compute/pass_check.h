// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"

namespace spanscope::compute {

/// Checks the inputs of a pass for every backend. Throws Failure that names the list and the place in it,
/// unless all of this holds: lists have one entry per row; head sizes and counts are those of the store;
/// slots and blocks are in the store; key ranges lie in their blocks; runs lie among the rows, with local
/// indices that do not descend; and everything that is wanted, drawn or observed exists. checkNarrowing()
/// checks narrowings.
void checkPass(const AttentionShape& shape, const RotaryTable& rotary, const KvShape& store,
               const PassInputs& inputs);

/// Checks the shape of keys and values for every backend. Throws Failure that names the fault unless there is
/// at least one layer, blocks have 1 to 1024 slots, heads have an even number of elements, the type is f32 or
/// bf16, and the number of bytes of the whole store can be counted.
void checkKvShape(const KvShape& shape);

/// Throws Failure unless the store has this block, the block has at least `slots` slots, and these slots take
/// `bytes` bytes in host memory.
void checkHostBlock(const KvShape& shape, BlockId block, std::int32_t slots, std::size_t bytes);

}  // namespace spanscope::compute
