// SPDX-License-Identifier: GPL-3.0-or-later
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
  double betaFast = 32;  ///< turns over the original context from which on a frequency is kept
  double betaSlow = 1;   ///< turns below which it is divided by the factor
  std::int64_t originalMaxPositions = 8192;
  bool truncates = true;  ///< whether the two borders are rounded to whole pairs
  bool operator==(const YarnScaling&) const = default;
};

/// The divisors of LongRoPE (arXiv 2402.13753): one list up to the original context, another one beyond.
/// Which is used is fixed for a model when it is opened; keys that were turned with one do not fit the other.
struct LongRope {
  std::vector<float> shortFactors;  ///< one for each pair that is turned
  std::vector<float> longFactors;
  std::int64_t originalMaxPositions = 4096;
  std::int64_t longMaxPositions = 0;  ///< of the other list; 0: not known yet
  bool isLong = false;                ///< which of them is used
  bool operator==(const LongRope&) const = default;
};

/// How layers turn queries and keys by their positions.
struct RotarySpec {
  double theta = 10000;
  /// Elements at the beginning of each head that are turned; 0: all of them. Element i goes with element i +
  /// turned / 2.
  std::int32_t turned = 0;
  double linearFactor = 1;  ///< all frequencies are divided by it
  std::optional<Llama3Scaling> llama3 = {};
  std::optional<YarnScaling> yarn = {};
  std::optional<LongRope> longRope = {};
  /// What each frequency is divided by, as GGUF files have it for Llama 3.1; empty: by 1.
  std::vector<float> factors = {};
  float attentionScale = 1;  ///< factor on turned queries and on turned keys
  bool operator==(const RotarySpec&) const = default;
};

/// What layers of one kind have in common.
struct AttentionKind {
  std::optional<RotarySpec> rotary = RotarySpec{};  ///< nothing: positions are not told to these layers
  /// A token sees only tokens less than so many positions before it, itself included; 0: all. Positions are
  /// those of the view.
  std::int32_t window = 0;
  compute::PositionScale positionScale = {};
  bool operator==(const AttentionKind&) const = default;
};

/// The rotary table of a kind: headSize/2 inverse frequencies, with the scaling applied. Where only a part of
/// a head is turned, the decoder has that part at the beginning of each half: the first frequencies are those
/// of its pairs, the others are 0.
compute::RotaryTable makeRotaryTable(const AttentionKind& kind, std::int32_t headSize);

}  // namespace spanscope::model
