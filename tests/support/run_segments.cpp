// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/run_segments.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace spanscope::testing {

namespace {

/// A segment with its place in the prompt and in the store.
struct Placed {
  bool independent = false;
  std::int32_t length = 0;
  std::int64_t base = 0;
  std::vector<BlockId> blocks;
};

std::vector<Placed> place(const std::vector<TestSegment>& segments, std::int32_t blockSize,
                          const SegmentOptions& options) {
  std::vector<Placed> placed;
  std::int64_t base = 0;
  std::int32_t next = options.firstBlock;
  for (const TestSegment& segment : segments) {
    Placed entry{segment.independent, segment.length, base, {}};
    for (std::int32_t filled = 0; filled < segment.length; filled += blockSize) {
      entry.blocks.push_back(next);
      next += options.blockStep;
    }
    base += segment.length;
    placed.push_back(std::move(entry));
  }
  return placed;
}

std::vector<compute::KeyRange> keysOf(const std::vector<Placed>& placed, std::size_t index,
                                      std::int32_t end) {
  std::vector<compute::KeyRange> keys;
  const Placed& own = placed[index];
  for (std::size_t i = 0; i < index && !own.independent; ++i) {
    keys.push_back({placed[i].blocks, 0, placed[i].length, placed[i].base, false});
  }
  keys.push_back({own.blocks, 0, end, own.base, true});
  return keys;
}

}  // namespace

std::vector<TestSegment> parseSegments(const std::string& text) {
  std::vector<TestSegment> segments;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part.size() < 2 || (part[0] != 'i' && part[0] != 'd')) throw std::logic_error("segments: " + text);
    segments.push_back({part[0] == 'i', std::stoi(part.substr(1))});
  }
  return segments;
}

std::int32_t blocksNeeded(const std::vector<TestSegment>& segments, std::int32_t blockSize,
                          const SegmentOptions& options) {
  BlockId last = 0;
  for (const Placed& segment : place(segments, blockSize, options)) {
    for (const BlockId block : segment.blocks) last = std::max(last, block);
  }
  return last + 1;
}

SegmentsResult runSegments(model::Decoder& decoder, compute::KvStore& store,
                           const std::vector<TokenId>& tokens, const std::vector<TestSegment>& segments,
                           const SegmentOptions& options) {
  const std::int32_t blockSize = store.shape().blockSize;
  const std::vector<Placed> placed = place(segments, blockSize, options);
  SegmentsResult result;
  model::Batch batch;
  const auto flush = [&] {
    if (batch.tokens.empty()) return;
    batch.massLayers = options.massLayers;
    for (std::uint32_t run = 0; run < batch.runs.size(); ++run) batch.mass.runs.push_back(run);
    model::ForwardResult pass = decoder.forward(batch, store, {});
    result.logits.insert(result.logits.end(), pass.logits.begin(), pass.logits.end());
    result.mass.push_back(std::move(pass.mass));
    result.runs.push_back(std::move(batch.runs));
    batch = {};
  };

  std::size_t token = 0;
  for (std::size_t s = 0; s < placed.size(); ++s) {
    const Placed& segment = placed[s];
    for (std::int32_t local = 0; local < segment.length;) {
      const auto used = static_cast<std::int32_t>(batch.tokens.size());
      const std::int32_t count = std::min(segment.length - local, options.rowsPerPass - used);
      batch.runs.push_back({used, count, segment.base, keysOf(placed, s, local + count)});
      for (std::int32_t r = 0; r < count; ++r, ++local, ++token) {
        batch.tokens.push_back(tokens.at(token));
        batch.localIndices.push_back(local);
        const BlockId block = segment.blocks[static_cast<std::size_t>(local / blockSize)];
        batch.slots.push_back(std::int64_t{block} * blockSize + local % blockSize);
        batch.logitRows.push_back(used + r);
      }
      if (used + count == options.rowsPerPass) flush();
    }
  }
  if (token != tokens.size()) throw std::logic_error("the segments do not cover the tokens");
  flush();
  return result;
}

}  // namespace spanscope::testing
