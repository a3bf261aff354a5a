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

/// Implements compute::Backend::deviations. out: [rows][1].
void measureDeviations(Executor& executor, const RowKernels& kernels, const CpuPass& pass,
                       compute::StoredPart part, const CpuTensor& x, std::int32_t layer,
                       const CpuKvStore& store, CpuTensor& out);

}  // namespace spanscope::cpu
