// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/retrieval_options.h"

#include <algorithm>

namespace spanscope::document {

retrieve::RetrievalOptions retrievalOptionsOf(const RunSettings& settings) {
  retrieve::RetrievalOptions options;
  options.fragments = settings.fragments;
  options.chunk.tokens = settings.chunk;
  // The largest there may be: each of the two can be changed alone.
  options.chunk.overlap = std::min(settings.overlap, settings.chunk / 4);
  options.ranking = retrieve::parseRanking(settings.ranking);
  options.summaries = settings.summaries;
  return options;
}

}  // namespace spanscope::document
