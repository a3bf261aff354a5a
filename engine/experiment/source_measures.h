// SPDX-License-Identifier: GPL-3.0-or-later
// Ways to say from attention which documents a reply used, to be held against questions of which that is
// known.
#pragma once

#include "engine/trace/event.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// A reply and what its tokens read.
struct ReadReply {
  std::vector<trace::SegmentInfo> segments;
  std::vector<trace::SegmentAttention> rows;  ///< by token of the reply
};

/// Segments that are documents: independent, and seen by the reply.
std::vector<std::uint32_t> documentsOf(const ReadReply& reply);

/// One number a document, in the order of documentsOf; more: used more.
using Reading = std::function<std::vector<double>(const ReadReply&)>;

struct SourceMeasure {
  std::string name;
  std::string formula;  ///< of one document, in words
  Reading read;
};

/// Those that need no choice; the one that views show is the first of them.
std::vector<SourceMeasure> sourceMeasures();

struct Head {
  std::int32_t layer = 0;
  std::int32_t head = 0;
  bool operator==(const Head&) const = default;
};
/// What these heads read of each document, first tokens left out.
SourceMeasure headsMeasure(const std::vector<Head>& heads);

}  // namespace spanscope::experiment
