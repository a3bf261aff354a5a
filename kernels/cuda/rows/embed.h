// SPDX-License-Identifier: GPL-3.0-or-later
// Looks up rows of the token embeddings. Open this file to change the lookup.
#pragma once

#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

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

}  // namespace spanscope::cuda
