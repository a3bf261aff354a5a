// SPDX-License-Identifier: GPL-3.0-or-later
// Runs one prompt through a decoder without a cache, with batches and block tables made by hand.
#pragma once

#include "engine/compute/backend.h"
#include "engine/model/decoder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::testing {

/// A segment of the prompt's tokens. It sees itself and, unless it is independent, everything before it.
struct TestSegment {
  bool independent = false;
  std::int32_t length = 0;
};

/// Reads segments: "i5,i4,d3" means two independent segments and a dependent one.
std::vector<TestSegment> parseSegments(const std::string& text);

struct SegmentOptions {
  std::int32_t rowsPerPass = 1 << 20;    ///< the prompt's rows are cut into passes of this many
  std::int32_t firstBlock = 1;           ///< the first block taken
  std::int32_t blockStep = 1;            ///< distance from one taken block to the next
  std::vector<std::int32_t> massLayers;  ///< layers in which the attention mass of every run is recorded
};

struct SegmentsResult {
  std::vector<float> logits;                         ///< [tokens][vocabularySize], in view order
  std::vector<std::vector<model::LayerMass>> mass;   ///< one entry for each pass
  std::vector<std::vector<compute::QueryRun>> runs;  ///< one entry for each pass
};

/// The number of blocks that runSegments() needs of a store with these options, the null block included.
std::int32_t blocksNeeded(const std::vector<TestSegment>& segments, std::int32_t blockSize,
                          const SegmentOptions& options = {});

/// Computes the logits of every token. The lengths of the segments must add up to the number of tokens. Each
/// segment has separate blocks, and its start position is its place in the prompt.
SegmentsResult runSegments(model::Decoder& decoder, compute::KvStore& store,
                           const std::vector<TokenId>& tokens, const std::vector<TestSegment>& segments,
                           const SegmentOptions& options = {});

}  // namespace spanscope::testing
