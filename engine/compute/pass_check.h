// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"

namespace spanscope::compute {

/// What every backend asks of the inputs of a pass before it takes them over. Throws Failure, which names the
/// list and the place in it, unless lists are as long as the rows, head sizes and counts are those of the
/// store, slots and blocks are in it, key ranges in their blocks, runs among the rows with ascending local
/// indices, and everything that is wanted, drawn or observed is there. Narrowing is checked apart
/// (checkNarrowing).
void checkPass(const AttentionShape& shape, const RotaryTable& rotary, const KvShape& store,
               const PassInputs& inputs);

}  // namespace spanscope::compute
