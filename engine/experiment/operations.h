// SPDX-License-Identifier: GPL-3.0-or-later
// The operations of a backend at the sizes of a model, each beside what the device can do at best.
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
  std::vector<std::int32_t> rows = {1, 16, 512};   ///< of a pass
  std::vector<std::int32_t> depths = {512, 8192};  ///< tokens that attention reads before the rows
  std::int32_t repeats = 5;
  compute::DType kvType = compute::DType::F32;
};

/// The least that one call has to do.
struct OperationWork {
  double flops = 0;
  double bytes = 0;  ///< read and written
};

struct OperationResult {
  std::string name;  ///< "matmul gate M=16", "attend M=1 depth 512"
  OperationWork work;
  Summary seconds;                ///< of one call
  compute::MachineRates machine;  ///< the best that was measured between the repeats

  /// Whether arithmetic and not memory is what bounds it on this device.
  bool isBoundByArithmetic() const;
  double flopsPerSecond() const;  ///< at the median
  double bytesPerSecond() const;  ///< at the median
  /// Of the rate that bounds it. More than 1 where what is read stays in a cache.
  double share() const;
};

/// Measures them one by one and tells of each. `measureMachine` is called between the repeats, so that both
/// see the same disturbances. Throws Failure if memory cannot be had or it was stopped.
void measureOperations(compute::Backend& backend, const model::ModelConfig& config,
                       const OperationOptions& options, const compute::RateMeter& measureMachine,
                       const std::function<void(const OperationResult&)>& tell, const std::stop_token& stop);

}  // namespace spanscope::experiment
