// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the query vector of one token and the key of another token, without and with rotation. The views
// use the vectors to show why a stored key can be used at any position. Open this file to change the data of
// the rotation view.
#pragma once

#include "engine/compute/backend.h"
#include "engine/layout/span_table.h"
#include "engine/model/decoder.h"
#include "engine/trace/prompt_parts.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace spanscope::run {

/// Throws Failure if a table is longer than the model's context, or has an id that the vocabulary lacks.
void checkTable(const layout::SpanTable& table, const model::ModelConfig& config);

/// Returns the rows from `begin` to `end` of a segment, for a forward pass outside of the cache. `blocks` has
/// the blocks of each segment, with `blockSize` tokens each.
model::Batch rowsOfSegment(const layout::SpanTable& table, std::uint32_t segment, std::int32_t begin,
                           std::int32_t end, std::span<const std::vector<BlockId>> blocks,
                           std::int32_t blockSize);

/// A request for the vectors of two tokens of a span table. A generated answer is at the end of the last
/// segment.
struct PairRequest {
  layout::SpanTable table;
  trace::TokenPlace row;  ///< the token whose query vector is used
  trace::TokenPlace key;  ///< the token whose key is used: of a segment that the row attends to, or of its
                          ///< own segment
};

/// How a layer uses positions.
struct LayerRotation {
  compute::RotaryTable rotary;
  compute::AttentionShape shape;
};

struct PairVectors {
  std::vector<LayerRotation> layers;
  std::vector<float> queries;  ///< [layers][queryHeads][headSize], query vectors of the row, not rotated
  std::vector<float> keys;     ///< [layers][keyHeads][headSize], key vectors of the key, not rotated.
  /// Attention weight of the row on the key in the forward pass, 0 … 1: [layers][queryHeads].
  std::vector<float> weights;

  std::span<const float> query(std::int32_t layer, std::int32_t head) const;
  /// Returns the key that this query head reads.
  std::span<const float> key(std::int32_t layer, std::int32_t head) const;
  float weight(std::int32_t layer, std::int32_t head) const;
};

/// Computes the table up to the row with only the decoder, in a separate KV store. No cache is used or
/// changed. Only the segments that the row depends on are computed. Throws Failure in these cases:
/// - The row cannot attend to the key.
/// - The row or the key is not in the table.
/// - The table is longer than the model's context.
/// - The computation was stopped.
PairVectors pairVectors(model::Decoder& decoder, compute::Backend& backend, const PairRequest& request,
                        const std::stop_token& stop = {});

/// One pair of elements of a head, i and i + headSize / 2, as a vector in the plane.
struct PlanePoint {
  double x = 0;
  double y = 0;
};
struct RotatedPair {
  double frequency = 0;  ///< radians per position
  PlanePoint query;
  PlanePoint key;
  PlanePoint rotatedQuery;
  PlanePoint rotatedKey;
  double score = 0;  ///< the contribution of this pair to the score
};

/// Rotates a query vector by `queryRotation` positions and a key by `keyRotation`, pair by pair. The sum of
/// the scores depends only on queryRotation − keyRotation, up to rounding. Scores are scaled as in the layer,
/// except for the factor that grows with the row's position (AttentionShape::positionScale).
std::vector<RotatedPair> rotatedPairs(std::span<const float> query, std::span<const float> key,
                                      const LayerRotation& layer, std::int64_t queryRotation,
                                      std::int64_t keyRotation);
double scoreOf(std::span<const RotatedPair> pairs);

}  // namespace spanscope::run
