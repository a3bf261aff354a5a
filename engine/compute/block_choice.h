// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the blocks for a row that may not read all blocks (QueryRun::mostBlocks). It follows Quest (Tang
// and others 2024, arXiv 2406.10774): it bounds the score that the row's queries could get in each block.
//
// The keys of a block are bounded element by element: `least` and `greatest` are taken over the keys, as
// stored, that the row may read there. A query q, rotated by its distance from the segment's base and scaled,
// scores at most Σ max(qᵢ · leastᵢ, qᵢ · greatestᵢ) with any of these keys. All query heads of a key head
// read the same blocks, so that every key is read once. The bound of a block is the largest bound of these
// heads.
#pragma once

#include <cstdint>
#include <span>

namespace spanscope::compute {

/// `bounds`: one for each block that holds keys of the row, in view order. `chosen` has the same size; it
/// becomes 1 where the block is read and 0 elsewhere. If there are no more than `most` blocks, all are read;
/// `most` is at least 2. Otherwise the row reads `most` blocks: the first block, because attention gathers
/// there whatever the query is; the last block, which holds the row's own key; and of the others those with
/// the largest bounds, the earlier one if bounds are equal. A NaN counts as the largest bound.
void chooseBlocks(std::span<const float> bounds, std::int32_t most, std::span<std::uint8_t> chosen);

}  // namespace spanscope::compute
