// SPDX-License-Identifier: GPL-3.0-or-later
// Checks the inputs of a forward pass for every backend. Open this file to add a rule for inputs.
#pragma once

#include "engine/compute/backend.h"

namespace spanscope::compute {

/// Checks the inputs of a forward pass. Throws Failure that names the list and the place in the list, unless
/// all of this is true:
/// - Lists have one entry per row.
/// - Head sizes and counts are those of the store.
/// - Slots and blocks are in the store, and key ranges are in their blocks.
/// - Runs are among the rows, and their positions in the segment do not descend.
/// - Everything that is requested, sampled or observed exists.
///
/// checkNarrowing() checks narrowings.
void checkPass(const AttentionShape& shape, const RotaryTable& rotary, const KvShape& store,
               const PassInputs& inputs);

/// Checks the shape of keys and values. Throws Failure that names the fault, unless all of this is true:
/// - There is at least one layer.
/// - Blocks have 1 to 1024 slots.
/// - Heads have an even number of elements.
/// - The type is f32 or bf16.
/// - The number of bytes of the whole store does not overflow.
void checkKvShape(const KvShape& shape);

/// Throws Failure unless the store has this block, and the block has at least `slots` slots. These slots must
/// take `bytes` bytes in host memory.
void checkHostBlock(const KvShape& shape, BlockId block, std::int32_t slots, std::size_t bytes);

}  // namespace spanscope::compute
