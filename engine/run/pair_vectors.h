// SPDX-License-Identifier: GPL-3.0-or-later
// The query of one token and the key of another one, as the model has them before positions turn them, and
// what turning makes of them: the algebra by which a stored key can be used at any position.
#pragma once

#include "engine/compute/backend.h"
#include "engine/layout/span_table.h"
#include "engine/model/decoder.h"
#include "engine/trace/sight.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace spanscope::run {

/// Asks for the vectors of two tokens of a span table. A reply that has been generated stands at the end of
/// the last segment.
struct PairRequest {
  layout::SpanTable table;
  trace::TokenPlace row;  ///< the token that looks
  trace::TokenPlace key;  ///< the token that is looked at: of a segment that the row sees, or of its own
};

/// What a layer makes of positions.
struct LayerTurn {
  compute::RotaryTable rotary;
  compute::AttentionShape shape;
};

struct PairVectors {
  std::vector<LayerTurn> layers;
  std::vector<float> queries;  ///< [layers][queryHeads][headSize], of the row, not turned
  std::vector<float> keys;     ///< [layers][keyHeads][headSize], of the key, not turned
  /// [layers][queryHeads]: the attention weight of the row on the key, as the pass computed it; 0 … 1.
  std::vector<float> weights;

  std::span<const float> query(std::int32_t layer, std::int32_t head) const;
  /// The key that this query head reads.
  std::span<const float> key(std::int32_t layer, std::int32_t head) const;
  float weight(std::int32_t layer, std::int32_t head) const;
};

/// Computes the table up to the row with only the decoder, in a KV store of its own: nothing that can be
/// found in a cache is used or changed. Only segments on which the row depends are computed. Throws Failure
/// if the row may not see the key, one of them is not in the table, the table is longer than the model's
/// context, or it was stopped.
PairVectors pairVectors(model::Decoder& decoder, compute::Backend& backend, const PairRequest& request,
                        const std::stop_token& stop = {});

/// One pair of elements of a head, i and i + headSize / 2, as a vector in the plane.
struct PlanePoint {
  double x = 0;
  double y = 0;
};
struct TurnedPair {
  double frequency = 0;  ///< radians a position
  PlanePoint query;
  PlanePoint key;
  PlanePoint turnedQuery;
  PlanePoint turnedKey;
  double score = 0;  ///< what this pair adds to the score
};

/// Turns a query by `queryTurn` positions and a key by `keyTurn`, pair by pair. The sum of their scores hangs
/// on queryTurn − keyTurn only, up to rounding. Scores are as the layer has them, scaled but for the part
/// that grows with the row's position (AttentionShape::positionScale).
std::vector<TurnedPair> turnedPairs(std::span<const float> query, std::span<const float> key,
                                    const LayerTurn& layer, std::int64_t queryTurn, std::int64_t keyTurn);
double scoreOf(std::span<const TurnedPair> pairs);

}  // namespace spanscope::run
