// SPDX-License-Identifier: GPL-3.0-or-later
// Which blocks a row reads that may not read all (QueryRun::mostBlocks), as Quest chooses them (Tang and
// others 2024, arXiv 2406.10774): by what its queries could score at most in each block.
//
// A block's keys are bounded element by element: `least` and `greatest` over the keys that the row may read
// there, as they are stored. A query q, rotated by its distance from the segment's base and scaled, scores at
// most Σ max(qᵢ · leastᵢ, qᵢ · greatestᵢ) with any of them. All query heads of a key head read the same
// blocks, so that every key is read once: the bound of a block is the largest of theirs.
#pragma once

#include <cstdint>
#include <span>

namespace spanscope::compute {

/// `bounds`: one for each block that holds keys of the row, in view order. Sets `chosen`, of the same size,
/// to 1 where the block is read and else to 0: the first block, where attention gathers whatever is asked,
/// the last, which holds the row's own key, and of the others those with the largest bounds, of equal ones
/// the earlier. All where there are no more than `most`, which is at least 2. A NaN counts as the largest.
void chooseBlocks(std::span<const float> bounds, std::int32_t most, std::span<std::uint8_t> chosen);

}  // namespace spanscope::compute
