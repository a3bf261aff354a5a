// SPDX-License-Identifier: GPL-3.0-or-later
// What a model takes of a device's memory, known before anything is loaded.
#pragma once

#include "engine/compute/backends.h"
#include "engine/model/config.h"
#include "engine/run/session_config.h"

#include <cstdint>

namespace spanscope::workbench {

/// Bytes. Sums that would be too large for the type are its largest value.
struct MemoryNeed {
  std::uint64_t weights = 0;
  std::uint64_t blockBytes = 0;                 ///< of the pool
  std::int64_t blocks = 0;                      ///< of the pool; 0: there is none
  compute::DType kvType = compute::DType::F32;  ///< of the pool
  std::uint64_t workspace = 0;  ///< activations of a pass, and what else the device needs for one

  std::uint64_t pool() const;
  std::uint64_t total() const;
};

/// `weightType`: of the checkpoint's matrices. `session`: as it suits the device, null for the weights alone.
/// `rules`: of the device.
MemoryNeed memoryNeed(const model::ModelConfig& config, compute::DType weightType,
                      const run::SessionConfig* session, const compute::MemoryRules& rules);

/// Throws Failure, with the numbers and the largest pool that would fit, where the device has less memory
/// than is needed. A device whose memory is not known has enough.
void checkMemory(const MemoryNeed& need, const compute::Device& device);

}  // namespace spanscope::workbench
