// SPDX-License-Identifier: GPL-3.0-or-later
// Operations within a row of activations. Every result depends on its own row alone: vectors start at the
// row's first element, and sums have one order.
#pragma once

#include <cstdint>

namespace spanscope::cpu {

/// The code for one instruction set.
struct RowKernels {
  const char* instructionSet = "";
  std::int64_t lanes = 0;  ///< f32 elements in a vector
  /// out = x / √(mean(x²) + epsilon) · weight
  void (*rmsNorm)(const float* x, const float* weight, float epsilon, std::int64_t columns,
                  float* out) = nullptr;
  /// out = gate / (1 + e^−gate) · up; out may be gate.
  void (*siluMul)(const float* gate, const float* up, std::int64_t columns, float* out) = nullptr;
  /// Turns pairs (i, i + pairs) of a head by angles whose cosines and sines lie one after the other, `pairs`
  /// each, and multiplies by `scale`.
  void (*rotate)(const float* head, const float* cosSin, std::int64_t pairs, float scale,
                 float* out) = nullptr;
  /// e^x of each element, as all kernels compute it.
  void (*exponential)(const float* x, std::int64_t count, float* out) = nullptr;
};

/// The kernels for the best instruction set of this machine.
RowKernels rowKernels();

}  // namespace spanscope::cpu
