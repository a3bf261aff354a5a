// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the rotary embedding and the window of a model's layers. Open this file to add a kind of RoPE
// scaling.
#pragma once

#include "engine/compute/backend.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::model {

/// Frequency scaling of rotary embeddings, as in Llama 3.1.
struct Llama3Scaling {
  double factor = 8;
  double lowFrequencyFactor = 1;
  double highFrequencyFactor = 4;
  std::int64_t originalMaxPositions = 8192;
  bool operator==(const Llama3Scaling&) const = default;
};

/// Frequency scaling of YaRN (arXiv 2309.00071, section 3.2).
struct YarnScaling {
  double factor = 1;
  double betaFast = 32;  ///< a frequency with at least this number of rotations over the original context is
                         ///< kept
  double betaSlow = 1;   ///< a frequency with fewer rotations is divided by the factor
  std::int64_t originalMaxPositions = 8192;
  bool truncates = true;  ///< whether the two limits are rounded to whole pairs
  bool operator==(const YarnScaling&) const = default;
};

/// The divisors of LongRoPE (arXiv 2402.13753): one list up to the original context, another list beyond. The
/// list is fixed when the model opens. Keys that were rotated with one list do not fit the other.
struct LongRope {
  std::vector<float> shortFactors;  ///< one for each rotated pair
  std::vector<float> longFactors;
  std::int64_t originalMaxPositions = 4096;
  std::int64_t longMaxPositions = 0;  ///< of the long list; 0: unknown
  bool isLong = false;                ///< whether the long list is used
  bool operator==(const LongRope&) const = default;
};

/// How layers rotate queries and keys by their positions.
struct RotarySpec {
  double theta = 10000;
  /// Number of rotated elements at the beginning of each head; 0: all. Element i and element i + turned / 2
  /// form a pair.
  std::int32_t turned = 0;
  double linearFactor = 1;  ///< divides all frequencies
  std::optional<Llama3Scaling> llama3 = {};
  std::optional<YarnScaling> yarn = {};
  std::optional<LongRope> longRope = {};
  /// The divisor of each frequency, as GGUF files have it for Llama 3.1. Empty: 1.
  std::vector<float> factors = {};
  float attentionScale = 1;  ///< factor on rotated queries and on rotated keys
  bool operator==(const RotarySpec&) const = default;
};

/// The properties that layers of one kind share.
struct AttentionKind {
  std::optional<RotarySpec> rotary = RotarySpec{};  ///< nothing: the layers have no positions.
  /// A token can attend to tokens less than this number of positions before it, itself included. 0: all.
  /// Positions are those of the request view.
  std::int32_t window = 0;
  compute::PositionScale positionScale = {};
  bool operator==(const AttentionKind&) const = default;
};

/// Returns the rotary table of a kind: headSize/2 inverse frequencies, with the scaling applied. If only a
/// part of a head is rotated, the decoder has that part at the beginning of each half. The first frequencies
/// then belong to its pairs, and the others are 0.
compute::RotaryTable makeRotaryTable(const AttentionKind& kind, std::int32_t headSize);

}  // namespace spanscope::model
