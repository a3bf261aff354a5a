// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the blocks for a row that may not read all blocks (QueryRun::mostBlocks). Open this file to change
// the choice of the `sparse` policy. The method is Quest (Tang and others 2024, arXiv 2406.10774). Quest
// computes an upper bound of the scores between the row's query vectors and the keys of each block.
//
// The keys of a block have bounds for each element. `least` and `greatest` are the min and max over the
// stored keys that the row may read. A query vector q is rotated by its distance from the segment's start
// position, and scaled. The score of q with any of these keys is at most Σ max(qᵢ · leastᵢ, qᵢ · greatestᵢ).
// All query heads of a key head read the same blocks. Each key is therefore read once. The bound of a block
// is the largest bound of these heads.
#pragma once

#include <cstdint>
#include <span>

namespace spanscope::compute {

/// Sets `chosen` to 1 for each block that is read, and to 0 for the others. `bounds` has one value for each
/// block with keys of the row, in prompt order. `chosen` has the same size. `most` is at least 2. With `most`
/// blocks or fewer, all blocks are read. Otherwise the row reads these `most` blocks:
/// - the first block, because this block contains the attention sink;
/// - the last block, which contains the row's own key;
/// - the other blocks with the largest bounds, and the earlier block if bounds are equal.
///
/// A NaN counts as the largest bound.
void chooseBlocks(std::span<const float> bounds, std::int32_t most, std::span<std::uint8_t> chosen);

}  // namespace spanscope::compute
