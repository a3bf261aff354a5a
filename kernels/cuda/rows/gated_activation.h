// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the gated activation of a layer. Open this file to add an activation.
#pragma once

#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// out = activation(gate) ⊙ up, with the activations of compute::Activation.
struct GatedActivationArguments {
  const Bf16* gate = nullptr;  ///< [rows] of `columns`, `stride` elements apart
  const Bf16* up = nullptr;    ///< [rows] of `columns`; both may be halves of the rows of one matrix
  Bf16* out = nullptr;         ///< [rows][columns]; may be gate if stride is columns
  int rows = 0;
  int columns = 0;
  int stride = 0;       ///< a multiple of 8 if `columns` is
  bool isGelu = false;  ///< compute::Activation::GeluTanh, else Silu

  bool operator==(const GatedActivationArguments&) const = default;
};

inline constexpr KernelBudget kGatedActivationBudget{"gatedActivationKernel", 128, 12, 0};

void gatedActivation(Stream& stream, const GatedActivationArguments& arguments);

}  // namespace spanscope::cuda
