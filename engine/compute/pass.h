// SPDX-License-Identifier: GPL-3.0-or-later
// Describes one forward pass. The host describes the pass once, and the backend takes the description over.
// After that the pass is opaque: its operations get the backend's own form of it.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/sampling.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::compute {

/// Keys that follow each other and that query rows read: a part of one segment.
struct KeyRange {
  std::vector<BlockId> blocks;  ///< by virtual block of the segment, starting at its local token 0
  std::int32_t begin = 0;       ///< first local token that is read
  std::int32_t end = 0;   ///< one past the last local token; in a causal range, the row at local token j
                          ///< reads up to j
  std::int64_t base = 0;  ///< position of local token 0 in the view
  bool causal = false;    ///< the range belongs to the rows' own segment
};

/// Rows of one segment of one request. They follow each other in the pass, but need not do so in the segment:
/// each row has its own local index, and reads a causal range up to that index.
struct QueryRun {
  std::int64_t firstRow = 0;  ///< in the tensors of this pass
  std::int32_t rowCount = 0;
  std::int64_t base = 0;       ///< position of the segment's local token 0
  std::vector<KeyRange> keys;  ///< in view order; partial results are merged in this order
  /// 0: a row reads all blocks that hold keys for it. Otherwise at least 2: a row reads at most so many of
  /// these blocks. block_choice.h says which, for each layer and key head.
  std::int32_t mostBlocks = 0;
};

/// Asks for attention mass. For every named query run and every head this is the attention weight on each
/// stretch of keys, summed over the rows of the run. Stretches are counted from local token 0 of each key
/// range's segment. A stretch that lies before `begin` gets 0.
struct MassRequest {
  std::vector<std::uint32_t> runs;  ///< indices of query runs
  /// For each of the runs, the number of keys in a stretch; 0 means one KV block. Empty: KV blocks for all
  /// runs.
  std::vector<std::int32_t> keySpans;

  std::int32_t keySpan(std::size_t entry, std::int32_t blockSize) const {
    return keySpans.empty() || keySpans[entry] == 0 ? blockSize : keySpans[entry];
  }
};
struct RunMass {
  std::uint32_t run = 0;
  std::int32_t keySpan = 0;             ///< keys in a stretch; the last stretch of a range may have fewer
  std::vector<std::int32_t> keyBlocks;  ///< stretches per key range
  std::vector<float> mass;              ///< [queryHeads][sum of keyBlocks]; divide by rowCount for a mean
  /// [queryHeads][key ranges]: the part of the mass that lies on the first key that is read of each range.
  std::vector<float> first;
};
struct LayerMass {
  std::int32_t layer = 0;
  std::vector<RunMass> runs;  ///< one entry per run that was asked for
};

/// Asks for a token that is drawn from a row of logits as sampling.h says.
struct Draw {
  std::int32_t logits = 0;  ///< index in PassInputs::logitRows
  SamplingSettings settings;
  std::uint64_t index = 0;  ///< number of the token in its reply
};

/// Some runs that follow each other; of all their rows together, `kept` remain after a narrowing.
struct RowGroup {
  std::uint32_t runs = 0;
  std::int32_t kept = 0;
  bool operator==(const RowGroup&) const = default;
};

/// The inputs of one forward pass: rows of any number of requests, prefill chunks beside decodes.
struct PassInputs {
  std::vector<TokenId> tokens;  ///< one per row
  /// Local index of each row in its segment, ascending within a run. The row stands at position base + local
  /// index. Its key is stored rotated by the local index. It sees its own segment up to this index.
  std::vector<std::int32_t> localIndices;
  std::vector<std::int64_t> slots;      ///< block · blockSize + slot: where the key and value of the row are
                                        ///< stored
  std::vector<QueryRun> runs;           ///< in the order of their rows
  std::vector<std::int32_t> logitRows;  ///< rows whose logits are computed
  std::vector<std::int32_t> hiddenRows;  ///< rows whose last hidden states are returned
  std::vector<Draw> draws;               ///< tokens that are drawn from those logits
  MassRequest mass;                      ///< the runs whose mass is returned, for each observed layer
  /// For each narrowing of the pass (narrowing.h): the groups of its runs, in order. A narrowing never keeps
  /// more rows of a group than the one before. Empty: the pass is not narrowed.
  std::vector<std::vector<RowGroup>> narrowings;
};

/// The lists of rows of a pass.
enum class RowList : std::uint8_t {
  Chosen,  ///< of the rows before the last narrowing, those that remained
  Wanted,  ///< of the current rows, those whose results are wanted: the logit rows, then the hidden rows
  Logits   ///< of the wanted rows, the logit rows
};

/// The backend's own form of the inputs: ids, tiles, tables. Valid until a KV block that the inputs name gets
/// another owner.
class Pass {
 public:
  virtual ~Pass() = default;
};

/// The results of a pass.
struct PassResults {
  bool stopped = false;  ///< if true, everything else is undefined
  /// One token per draw. If a row of logits is damaged, its token has a fault; the others are unaffected.
  std::vector<SampledToken> tokens;
  std::vector<LayerMass> mass;  ///< of the observed layers, in order
  /// For a pass that was narrowed: the rows that remained to the end, by their place in its inputs.
  std::vector<std::int32_t> keptRows;
  std::vector<std::vector<float>> fetched;  ///< one tensor per fetch(), in the order of the calls, row-major
};

}  // namespace spanscope::compute
