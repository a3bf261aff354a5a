// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the operations of a backend at the sizes of a model. Compares each operation with the limits of
// the device. Open this file to add an operation.
#pragma once

#include "engine/compute/backends.h"
#include "engine/experiment/statistics.h"
#include "engine/model/config.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

struct OperationOptions {
  std::vector<std::int32_t> rows = {1, 16, 512};   ///< number of rows of a forward pass
  std::vector<std::int32_t> depths = {512, 8192};  ///< number of tokens that attention reads before the rows.
  /// Attention also reads the tokens before the rows in segments of this number of tokens, with separate
  /// blocks and rotations. 0: only as one segment with the rows.
  std::int32_t segmentTokens = 0;
  std::int32_t repeats = 5;
  compute::DType kvType = compute::DType::F32;
};

/// The min work of one call.
struct OperationWork {
  double flops = 0;
  double bytes = 0;  ///< read and written
};

struct OperationResult {
  std::string name;  ///< "matmul gate M=16", "attend M=1 depth 512"
  OperationWork work;
  Summary seconds;                ///< of one call
  compute::MachineRates machine;  ///< the highest rates between the repeats

  /// Whether arithmetic, and not memory, limits the operation on this device.
  bool isBoundByArithmetic() const;
  double flopsPerSecond() const;  ///< at the median
  double bytesPerSecond() const;  ///< at the median
  /// Returns the share of the rate that limits the operation. The share is more than 1 if the data stays in a
  /// cache.
  double share() const;
};

/// Measures the operations one after the other and reports each. Calls `measureMachine` between the repeats,
/// so that both measurements have the same disturbances. Throws Failure when stopped, and if memory cannot be
/// allocated.
void measureOperations(compute::Backend& backend, const model::ModelConfig& config,
                       const OperationOptions& options, const compute::RateMeter& measureMachine,
                       const std::function<void(const OperationResult&)>& report,
                       const std::stop_token& stop);

}  // namespace spanscope::experiment
