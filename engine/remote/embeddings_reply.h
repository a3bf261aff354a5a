// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the reply of an embeddings server. It trusts nothing in the reply.
#pragma once

#include "engine/retrieve/embedder.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote {

/// Most numbers in a vector.
inline constexpr std::size_t kMaxDimensions = 65'536;

/// The vectors of a reply {"data": [{"index": i, "embedding": [numbers]}, …]}, one for each of `count` texts.
/// They are ordered by index, or, if no entry has an index, by their place in the list. Throws Failure, with
/// the file `url`, for anything else.
std::vector<retrieve::EmbeddingVector> readEmbeddings(std::string_view body, std::size_t count,
                                                      const std::string& url);

}  // namespace spanscope::remote
