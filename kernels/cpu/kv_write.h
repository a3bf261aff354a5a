// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/kv_store.h"
#include "kernels/cpu/rotary.h"
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/tensor.h"

#include <cstdint>
#include <span>

namespace spanscope::cpu {

/// Rotates each key row by its local index, rounds keys and values to the store's type and puts them at
/// slots[row].
void writeKeysValues(Executor& executor, const RowKernels& kernels, RotaryCache& cache, const CpuTensor& keys,
                     const CpuTensor& values, const compute::RotaryTable& rotary,
                     std::span<const std::int32_t> localIndices, std::span<const std::int64_t> slots,
                     std::int32_t layer, CpuKvStore& store);

}  // namespace spanscope::cpu
