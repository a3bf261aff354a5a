// SPDX-License-Identifier: GPL-3.0-or-later
// Measures that tell from attention which documents a reply used. They are tested with questions whose
// documents are known.
#pragma once

#include "engine/trace/event.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// A reply, and what its tokens read.
struct ReadReply {
  std::vector<trace::SegmentInfo> segments;
  std::vector<trace::SegmentAttention> rows;  ///< by token of the reply
};

/// The segments that are documents: independent segments that the reply sees.
std::vector<std::uint32_t> documentsOf(const ReadReply& reply);

/// One number for each document, in the order of documentsOf(). A larger number means more use.
using Reading = std::function<std::vector<double>(const ReadReply&)>;

struct SourceMeasure {
  std::string name;
  std::string formula;  ///< for one document, in words
  Reading read;
};

/// The measures without parameters. The first one is the measure that views show.
std::vector<SourceMeasure> sourceMeasures();

struct Head {
  std::int32_t layer = 0;
  std::int32_t head = 0;
  bool operator==(const Head&) const = default;
};
/// The share that these heads read of each document, without first tokens.
SourceMeasure headsMeasure(const std::vector<Head>& heads);

}  // namespace spanscope::experiment
