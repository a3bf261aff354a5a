// SPDX-License-Identifier: GPL-3.0-or-later
// Which documents a reply used, from what its tokens read. `spanq bench sources` chose the measure among
// others on generated questions of which the answer's documents are known; the manual has its figures and
// theirs.
#pragma once

#include "engine/trace/event.h"

#include <span>
#include <vector>

namespace spanscope::trace {

/// Of each segment whether it is a source: it stands in the view, and is independent or the first of its
/// scope that does, having been computed again or seeing what stands before it. Documents, not the prompt
/// around them.
std::vector<bool> sourceSegments(std::span<const SegmentInfo> segments);

/// For every segment of the table its share of what the reply read, 0 … 1; they sum to 1, or are all 0 where
/// nothing was read. Only sources that were seen by others have one, not the reply's own segment.
///
///   share of d  =  Σ (m − s)²  /  the same of all documents
///
/// over all rows, layers and heads, with m the attention on d and s the part of it on d's first token, which
/// is looked at for nothing. The square lets a head that looks at one document count more than many that look
/// a little at all of them.
///
/// `rows`: what was recorded of one request; those from which no token of the reply was drawn do not count.
std::vector<double> sourceShares(std::span<const SegmentInfo> segments,
                                 std::span<const SegmentAttention* const> rows);

}  // namespace spanscope::trace
