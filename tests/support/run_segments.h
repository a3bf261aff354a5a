// SPDX-License-Identifier: GPL-3.0-or-later
// One prompt through a decoder without a cache: batches and block tables made by hand.
#pragma once

#include "engine/compute/backend.h"
#include "engine/model/decoder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::testing {

/// A run of the prompt's tokens. It sees itself, and everything before it unless it is independent.
struct TestSegment {
  bool independent = false;
  std::int32_t length = 0;
};

/// "i5,i4,d3": two independent segments and a dependent one.
std::vector<TestSegment> parseSegments(const std::string& text);

struct SegmentOptions {
  std::int32_t rowsPerPass = 1 << 20;    ///< the rows of the prompt are cut into passes of this many
  std::int32_t firstBlock = 1;           ///< blocks are taken from here on …
  std::int32_t blockStep = 1;            ///< … in steps of this
  std::vector<std::int32_t> massLayers;  ///< attention mass of every run is recorded there
};

struct SegmentsResult {
  std::vector<float> logits;                         ///< [tokens][vocabularySize], in view order
  std::vector<std::vector<model::LayerMass>> mass;   ///< a pass
  std::vector<std::vector<compute::QueryRun>> runs;  ///< a pass
};

/// How many blocks `runSegments` needs of a store with these options, the null block included.
std::int32_t blocksNeeded(const std::vector<TestSegment>& segments, std::int32_t blockSize,
                          const SegmentOptions& options = {});

/// Computes the logits of every token. The lengths of the segments have to add up to the tokens. Each segment
/// stands in blocks of its own, its base being its place in the prompt.
SegmentsResult runSegments(model::Decoder& decoder, compute::KvStore& store,
                           const std::vector<TokenId>& tokens, const std::vector<TestSegment>& segments,
                           const SegmentOptions& options = {});

}  // namespace spanscope::testing
