// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/kv_store.h"
#include "kernels/cpu/pass.h"
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/tensor.h"

#include <cstdint>

namespace spanscope::cpu {

/// Rotates each key row by its local index, rounds keys and values to the store's type, and writes them at
/// slots[row].
void writeKeysValues(Executor& executor, const RowKernels& kernels, const CpuPass& pass,
                     const CpuTensor& keys, const CpuTensor& values, std::int32_t layer, CpuKvStore& store);

}  // namespace spanscope::cpu
