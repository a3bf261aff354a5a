// SPDX-License-Identifier: GPL-3.0-or-later
// Operations on rows of activations. Every result depends only on its own row. Vectors start at the row's
// first element, and sums have a fixed order. Open this file to add an operation on rows.
#pragma once

#include <cstdint>

namespace spanscope::cpu {

/// The functions for one instruction set.
struct RowKernels {
  const char* target = "";          ///< the name in results, e.g. "AVX3"
  const char* instructionSet = "";  ///< the name for the user, e.g. "AVX-512"
  std::int64_t lanes = 0;           ///< number of f32 elements in a vector
  /// out = x / √(mean(x²) + epsilon) · weight
  void (*rmsNorm)(const float* x, const float* weight, float epsilon, std::int64_t columns,
                  float* out) = nullptr;
  /// out = (x − mean(x)) / √(variance(x) + epsilon) · weight
  void (*layerNorm)(const float* x, const float* weight, float epsilon, std::int64_t columns,
                    float* out) = nullptr;
  /// out = activation(gate) · up, by the number of the activation. out may be gate.
  void (*multiplyGated[3])(const float* gate, const float* up, std::int64_t columns, float* out) = {};
  /// x = factor · x
  void (*scale)(float* x, float factor, std::int64_t columns) = nullptr;
  /// x = cap · tanh(x / cap)
  void (*softCap)(float* x, float cap, std::int64_t columns) = nullptr;
  /// out = out + factor · x. Product and sum together are rounded once.
  void (*addScaled)(const float* x, float factor, std::int64_t columns, float* out) = nullptr;
  /// Rotates the pairs (i, i + pairs) of a head by angles and multiplies by `scale`. `cosSin` has `pairs`
  /// cosines, then `pairs` sines.
  void (*rotate)(const float* head, const float* cosSin, std::int64_t pairs, float scale,
                 float* out) = nullptr;
  /// e^x of each element, as all kernels compute it.
  void (*exponential)(const float* x, std::int64_t count, float* out) = nullptr;
};

/// Returns the kernels for the best instruction set of this machine.
RowKernels rowKernels();

}  // namespace spanscope::cpu
