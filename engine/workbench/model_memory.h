// SPDX-License-Identifier: GPL-3.0-or-later
// Computes how much of a device's memory a model needs, before anything is loaded.
#pragma once

#include "engine/compute/backends.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/run/run_options.h"

#include <cstdint>

namespace spanscope::workbench {

/// In bytes. A sum that is too large for the type becomes the type's largest value.
struct MemoryNeed {
  std::uint64_t weights = 0;
  std::uint64_t blockBytes = 0;                 ///< memory of the pool
  std::int64_t blocks = 0;                      ///< of the pool; 0: there is no pool
  compute::DType kvType = compute::DType::F32;  ///< of the pool
  std::uint64_t workspace = 0;  ///< activations of a pass, and other memory that the device needs for a pass

  std::uint64_t pool() const;
  std::uint64_t total() const;
};

/// `weights`: the matrices of the checkpoint. `session`: already adapted to the device; null for the weights
/// alone. `rules`: of the device.
MemoryNeed memoryNeed(const model::ModelConfig& config, const model::WeightAmounts& weights,
                      const run::SessionConfig* session, const compute::MemoryRules& rules);

/// Throws Failure if the device has too little memory; the error contains the numbers and the largest pool
/// that would fit. A device whose memory is unknown passes.
void checkMemory(const MemoryNeed& need, const compute::Device& device);

}  // namespace spanscope::workbench
