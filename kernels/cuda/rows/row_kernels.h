// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels of rows: bias, embeddings, gated activation, gathering, RMS norm and scaled sums. Open this file to
// change such a kernel.
#pragma once

#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// out[r] = bias, or out[r] + bias. A matrix product is added to `out` later.
struct BiasRowsArguments {
  const float* bias = nullptr;  ///< [columns]
  void* out = nullptr;          ///< [rows][columns]
  bool outIsFloat = false;      ///< f32, else bf16
  bool accumulate = false;
  int rows = 0;
  int columns = 0;

  bool operator==(const BiasRowsArguments&) const = default;
};

inline constexpr KernelBudget kBiasRowsBudget{"biasRowsKernel", 128, 12, 0};

void biasRows(Stream& stream, const BiasRowsArguments& arguments);

/// out[r] = table[ids[r]]
struct EmbedArguments {
  const Bf16* table = nullptr;        ///< [words][columns]
  const std::int32_t* ids = nullptr;  ///< [rows], each a row of the table
  Bf16* out = nullptr;                ///< [rows][columns]
  int rows = 0;
  int columns = 0;

  bool operator==(const EmbedArguments&) const = default;
};

inline constexpr KernelBudget kEmbedBudget{"embedKernel", 128, 16, 0};

void embed(Stream& stream, const EmbedArguments& arguments);

/// out = activation(gate) ⊙ up, with the activations of compute::Activation.
struct GatedActivationArguments {
  const Bf16* gate = nullptr;  ///< [rows] of `columns`, `stride` elements apart
  const Bf16* up = nullptr;    ///< [rows] of `columns`; gate and up may be halves of the rows of one matrix
  Bf16* out = nullptr;         ///< [rows][columns]; may be gate if stride is columns
  int rows = 0;
  int columns = 0;
  int stride = 0;       ///< a multiple of 8 if `columns` is
  bool isGelu = false;  ///< compute::Activation::GeluTanh, else Silu

  bool operator==(const GatedActivationArguments&) const = default;
};

inline constexpr KernelBudget kGatedActivationBudget{"gatedActivationKernel", 128, 12, 0};

void gatedActivation(Stream& stream, const GatedActivationArguments& arguments);

/// out[i] = x[rows[i]]. The GPU may have chosen the indices.
struct GatherRowsArguments {
  const Bf16* x = nullptr;             ///< [any number][columns]
  const std::int32_t* rows = nullptr;  ///< [count], each a row of x
  Bf16* out = nullptr;                 ///< [count][columns]; must not overlap x
  int count = 0;
  int columns = 0;

  bool operator==(const GatherRowsArguments&) const = default;
};

inline constexpr KernelBudget kGatherRowsBudget{"gatherRowsKernel", 128, 16, 0};

void gatherRows(Stream& stream, const GatherRowsArguments& arguments);

/// out[r] = x[r] / √(mean(x[r]²) + epsilon) · weight. If `added` is set, x[r] first becomes x[r] + added[r],
/// rounded to bf16 once. If `centers`, x[r] − mean(x[r]) replaces x[r] in the formula.
struct RmsNormArguments {
  Bf16* x = nullptr;              ///< [rows][columns]; written only if `added` is set
  const Bf16* added = nullptr;    ///< [rows][columns], or null
  const float* weight = nullptr;  ///< [columns]
  Bf16* out = nullptr;            ///< [rows][columns]; must not overlap the others
  int rows = 0;
  int columns = 0;
  float epsilon = 0;
  bool centers = false;

  bool operator==(const RmsNormArguments&) const = default;
};

inline constexpr int kRmsNormThreads = 256;
inline constexpr KernelBudget kRmsNormBudget{"rmsNormKernel", kRmsNormThreads, 6,
                                             sharedBytesOf<float>(kRmsNormThreads / 32)};

void rmsNorm(Stream& stream, const RmsNormArguments& arguments);

/// out = outFactor · out + factor · x, without the second product if x is null.
struct ScaledSumArguments {
  const Bf16* x = nullptr;  ///< [count]
  void* out = nullptr;      ///< [count]
  bool outIsFloat = false;  ///< f32, else bf16
  float outFactor = 1;
  float factor = 0;
  std::int64_t count = 0;

  bool operator==(const ScaledSumArguments&) const = default;
};

inline constexpr KernelBudget kScaledSumBudget{"scaledSumKernel", 128, 12, 0};

void scaledSum(Stream& stream, const ScaledSumArguments& arguments);

/// x = cap · tanh(x / cap)
struct SoftCapArguments {
  void* x = nullptr;     ///< [count]
  bool isFloat = false;  ///< f32, else bf16
  float cap = 0;
  std::int64_t count = 0;

  bool operator==(const SoftCapArguments&) const = default;
};

inline constexpr KernelBudget kSoftCapBudget{"softCapKernel", 128, 12, 0};

void softCap(Stream& stream, const SoftCapArguments& arguments);

/// out[r] = x[r][first … first + columns − 1]
struct TakeColumnsArguments {
  const Bf16* x = nullptr;  ///< [rows] of `stride` elements
  Bf16* out = nullptr;      ///< [rows][columns]; must not overlap x
  int rows = 0;
  int stride = 0;
  int first = 0;
  int columns = 0;

  bool operator==(const TakeColumnsArguments&) const = default;
};

inline constexpr KernelBudget kTakeColumnsBudget{"takeColumnsKernel", 128, 16, 0};

void takeColumns(Stream& stream, const TakeColumnsArguments& arguments);

}  // namespace spanscope::cuda
