// SPDX-License-Identifier: GPL-3.0-or-later
// What one forward pass computes. It is described once on the host, taken over by the backend once, and
// opaque after that: the operations of a pass are given the backend's own form of it.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/sampling.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::compute {

/// A run of keys that query rows read: part of one segment.
struct KeyRange {
  std::vector<BlockId> blocks;  ///< by virtual block of the segment, from its local token 0
  std::int32_t begin = 0;       ///< first local token that is read
  std::int32_t end = 0;   ///< one past the last; for a causal range the row at local token j reads up to j
  std::int64_t base = 0;  ///< position of local token 0 in the view
  bool causal = false;    ///< the rows' own segment
};

/// Rows of one segment of one request that follow each other in the pass. In the segment they need not: each
/// stands at its own local index, and reads a causal range up to that.
struct QueryRun {
  std::int64_t firstRow = 0;  ///< in the tensors of this pass
  std::int32_t rowCount = 0;
  std::int64_t base = 0;       ///< position of the segment's local token 0
  std::vector<KeyRange> keys;  ///< in view order; partial results are merged in this order
  /// At least 2: a row reads at most so many of the blocks that its keys lie in, in each layer and for each
  /// key head those that block_choice.h says. 0: it reads all.
  std::int32_t mostBlocks = 0;
};

/// Asks for attention mass: for every query run named, and every head, the sum over the run's rows of the
/// attention weight on each stretch of keys. Stretches are counted from local token 0 of each key range's
/// segment; those before `begin` get 0.
struct MassRequest {
  std::vector<std::uint32_t> runs;  ///< indices of query runs
  /// Keys of a stretch for each of the runs: 0 for a KV block, else that many tokens. Empty: KV blocks for
  /// all.
  std::vector<std::int32_t> keySpans;

  std::int32_t keySpan(std::size_t entry, std::int32_t blockSize) const {
    return keySpans.empty() || keySpans[entry] == 0 ? blockSize : keySpans[entry];
  }
};
struct RunMass {
  std::uint32_t run = 0;
  std::int32_t keySpan = 0;             ///< keys of a stretch; the last one of a range may have fewer
  std::vector<std::int32_t> keyBlocks;  ///< stretches per key range
  std::vector<float> mass;              ///< [queryHeads][sum of keyBlocks]; divide by rowCount for a mean
  /// [queryHeads][key ranges]: of it, what lies on the first key that is read of each range.
  std::vector<float> first;
};
struct LayerMass {
  std::int32_t layer = 0;
  std::vector<RunMass> runs;  ///< one entry a run asked for
};

/// A token that is drawn from a row of logits as sampling.h says.
struct Draw {
  std::int32_t logits = 0;  ///< index in PassInputs::logitRows
  SamplingSettings settings;
  std::uint64_t index = 0;  ///< of the token in its reply
};

/// Of the rows of some runs that follow each other, all together, so many go on.
struct RowGroup {
  std::uint32_t runs = 0;
  std::int32_t kept = 0;
  bool operator==(const RowGroup&) const = default;
};

/// One forward pass: rows of any number of requests, prefill chunks beside decodes.
struct PassInputs {
  std::vector<TokenId> tokens;  ///< one a row
  /// Of each row in its segment, ascending within a run: it stands at position base + local index, its key is
  /// stored rotated by the local index, and it sees its own segment up to there.
  std::vector<std::int32_t> localIndices;
  std::vector<std::int64_t> slots;       ///< block · blockSize + slot, where the row's key and value go
  std::vector<QueryRun> runs;            ///< in the order of the rows
  std::vector<std::int32_t> logitRows;   ///< rows whose logits are computed
  std::vector<std::int32_t> hiddenRows;  ///< rows whose last hidden states are wanted
  std::vector<Draw> draws;               ///< tokens drawn from those logits
  MassRequest mass;                      ///< for which runs, at the layers that are observed
  /// For each time that the pass is narrowed (narrowing.h) the groups of its runs, in their order; each time
  /// has no more groups and rows to keep than the one before has left. Empty: it never is.
  std::vector<std::vector<RowGroup>> narrowings;
};

/// Lists of rows that a pass has.
enum class RowList : std::uint8_t {
  Chosen,  ///< of the rows before the pass was last narrowed those that went on
  Wanted,  ///< of the rows those that go on to the end: the logit rows, then the hidden rows
  Logits   ///< of the wanted rows the logit rows
};

/// A backend's own form of the inputs: ids, tiles, tables. Valid until the KV blocks it names change owner.
class Pass {
 public:
  virtual ~Pass() = default;
};

/// What comes back of a pass.
struct PassResults {
  bool stopped = false;  ///< nothing else is defined then
  /// One for each draw; a row that is damaged has a fault and leaves the others alone.
  std::vector<SampledToken> tokens;
  std::vector<LayerMass> mass;  ///< of the layers that were observed, in order
  /// Of a pass that was narrowed the rows that went on to the end, by their place in its inputs.
  std::vector<std::int32_t> keptRows;
  std::vector<std::vector<float>> fetched;  ///< tensors in the order they were asked for, row-major
};

}  // namespace spanscope::compute
