// SPDX-License-Identifier: GPL-3.0-or-later
// Describes one forward pass. The host gives the description to the backend once. The backend converts the
// description to its own opaque form, for the operations of the forward pass. Open this file to add an input
// or result of a forward pass.
//
// Defines which rows of a forward pass remain when the forward pass is narrowed. Equal scores give the same
// rows on every backend. Open this file when a policy recomputes the wrong tokens.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/sampling.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::compute {

/// A range of consecutive keys of one segment that query rows read.
struct KeyRange {
  std::vector<BlockId> blocks;  ///< by virtual block of the segment, from position 0
  std::int32_t begin = 0;       ///< first position in the segment that is read
  std::int32_t end = 0;         ///< one past the last position in the segment. In a causal range, the row at
                                ///< position j reads up to j.
  std::int64_t base = 0;        ///< start position of the segment in the request view
  bool causal = false;          ///< the range belongs to the rows' own segment
};

/// Rows of one segment of one request. The rows are consecutive in the forward pass, but maybe not in the
/// segment. Each row has its own position in the segment, and reads a causal range up to that position.
struct QueryRun {
  std::int64_t firstRow = 0;  ///< in the tensors of this forward pass
  std::int32_t rowCount = 0;
  std::int64_t base = 0;       ///< start position of the segment
  std::vector<KeyRange> keys;  ///< in prompt order; partial results are merged in this order.
  /// The max number of blocks with keys that a row reads, at least 2. 0: a row reads all these blocks. A
  /// function in block_choice.h chooses the blocks, for each layer and key head.
  std::int32_t mostBlocks = 0;
};

/// A request for attention mass. The mass is the attention weight on each section of consecutive keys, summed
/// over the rows of a run. Each named run and each head has its own mass. Sections are counted from position
/// 0 of each key range's segment. A section before `begin` gets 0.
struct MassRequest {
  std::vector<std::uint32_t> runs;  ///< indices of query runs
  /// For each of the runs, the number of keys in a section. 0 means one KV block. Empty: KV blocks for all
  /// runs.
  std::vector<std::int32_t> keySpans;

  std::int32_t keySpan(std::size_t entry, std::int32_t blockSize) const {
    return keySpans.empty() || keySpans[entry] == 0 ? blockSize : keySpans[entry];
  }
};
struct RunMass {
  std::uint32_t run = 0;
  std::int32_t keySpan = 0;             ///< keys in a section; the last section of a range may have fewer
  std::vector<std::int32_t> keyBlocks;  ///< sections per key range
  std::vector<float> mass;              ///< [queryHeads][sum of keyBlocks]; divide by rowCount.
  /// Mass on the first key that rows read in each range: [queryHeads][key ranges].
  std::vector<float> first;
};
struct LayerMass {
  std::int32_t layer = 0;
  std::vector<RunMass> runs;  ///< one entry per requested run
};

/// A request for a token that is sampled from a row of logits, as in sampling.h.
struct Draw {
  std::int32_t logits = 0;  ///< index in PassInputs::logitRows
  SamplingSettings settings;
  std::uint64_t index = 0;  ///< number of the token in its answer
};

/// A group of consecutive runs. After a narrowing, `kept` rows of the whole group remain.
struct RowGroup {
  std::uint32_t runs = 0;
  std::int32_t kept = 0;
  bool operator==(const RowGroup&) const = default;
};

/// The inputs of one forward pass: rows of any number of requests, prefill chunks together with decode rows.
struct PassInputs {
  std::vector<TokenId> tokens;  ///< one per row
  /// Position of each row in its segment, ascending in a run. The position in the view is the start position
  /// + this value. The row's key is stored rotated by this value. The row attends to its own segment up to
  /// this position.
  std::vector<std::int32_t> localIndices;
  std::vector<std::int64_t>
      slots;                   ///< block · blockSize + slot: where the key and value of the row are stored
  std::vector<QueryRun> runs;  ///< in the order of their rows
  std::vector<std::int32_t> logitRows;   ///< rows whose logits are computed
  std::vector<std::int32_t> hiddenRows;  ///< rows whose last hidden states are returned
  std::vector<Draw> draws;               ///< tokens to sample from the logits of `logitRows`
  MassRequest mass;                      ///< the runs whose mass is returned, for each observed layer.
  /// For each narrowing of the forward pass (narrowing.h), the groups of its runs, in order. A narrowing
  /// never keeps more rows of a group than the previous narrowing. Empty: the forward pass is not narrowed.
  std::vector<std::vector<RowGroup>> narrowings;
};

/// The lists of rows of a forward pass.
enum class RowList : std::uint8_t {
  Chosen,  ///< the remaining rows, among the rows before the last narrowing
  Wanted,  ///< the current rows whose results are requested: first the logit rows, then the hidden rows
  Logits   ///< the logit rows, among the `Wanted` rows
};

/// The backend's own form of the inputs: ids, tiles, tables. Valid until a KV block that the inputs name gets
/// another owner.
class Pass {
 public:
  virtual ~Pass() = default;
};

/// The results of a forward pass.
struct PassResults {
  bool stopped = false;  ///< if true, everything else is undefined
  /// One token per draw. If a row of logits is damaged, its token has a fault. Other tokens are unaffected.
  std::vector<SampledToken> tokens;
  std::vector<LayerMass> mass;  ///< of the observed layers, in order.
  /// For a narrowed forward pass: the rows that remained to the end, by their index in the inputs.
  std::vector<std::int32_t> keptRows;
  std::vector<std::vector<float>> fetched;  ///< one tensor per fetch(), in the order of the calls, row-major
};

/// Returns the rows that remain after the next narrowing, by their index in the forward pass, ascending. In
/// each group, the rows with the largest scores remain. Of equal scores (−0 equals +0), the earlier row
/// remains. scores: one per row. A NaN counts as the largest score.
std::vector<std::int32_t> chooseRows(const PassInputs& inputs, std::span<const float> scores);

/// Returns the inputs of the forward pass after a narrowing to `rows`, the result of chooseRows(). A run
/// without rows is removed, also from the list of runs whose mass is requested. The first narrowing is
/// removed from the list.
PassInputs narrowed(const PassInputs& inputs, std::span<const std::int32_t> rows);

/// Throws Failure unless the narrowings of the inputs are possible:
/// - The groups cover the runs, and the runs cover the rows.
/// - Every narrowing has the same groups.
/// - A group keeps no more rows than it has left.
/// - A group keeps all its rows if logits, hidden states or masses of its rows are requested.
void checkNarrowing(const PassInputs& inputs);

/// The narrowings of a forward pass in progress, for backends. Holds the current inputs, and the indices of
/// the original rows that remain.
class Narrowing {
 public:
  /// Throws Failure like checkNarrowing().
  explicit Narrowing(const PassInputs& inputs);

  /// Does the next narrowing. Returns the remaining rows, by their index before this narrowing. Throws
  /// Failure if there is no narrowing left, or not exactly one score per row.
  std::vector<std::int32_t> step(std::span<const float> scores);

  const PassInputs& inputs() const { return m_inputs; }
  /// Returns the remaining rows, by their index in the original inputs.
  const std::vector<std::int32_t>& kept() const { return m_kept; }

 private:
  PassInputs m_inputs;
  std::vector<std::int32_t> m_kept;
};

}  // namespace spanscope::compute
