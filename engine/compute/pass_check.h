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

}  // namespace spanscope::compute
