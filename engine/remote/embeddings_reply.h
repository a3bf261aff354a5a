// SPDX-License-Identifier: GPL-3.0-or-later
// Reads what a server of embeddings replies. Nothing of it is believed.
#pragma once

#include "engine/retrieve/embedder.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote {

/// Most numbers of a vector.
inline constexpr std::size_t kMaxDimensions = 65'536;

/// The vectors of a reply {"data": [{"index": i, "embedding": [numbers]}, …]}, one for each of `count` texts,
/// in the order of their indices; of their places where no entry has an index. Throws Failure, whose file is
/// `url`, for whatever is something else.
std::vector<retrieve::EmbeddingVector> readEmbeddings(std::string_view body, std::size_t count,
                                                      const std::string& url);

/// A part of a reply as messages show it: on one line, short, and valid UTF-8.
std::string shownReply(std::string_view text);

}  // namespace spanscope::remote
