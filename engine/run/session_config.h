// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of a session.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/store/span_store.h"
#include "engine/compute/dtype.h"

#include <cstdint>
#include <optional>
#include <string>

namespace spanscope::run {

struct SessionConfig {
  std::int32_t blockSize = 16;
  std::int32_t blockCount = 2048;  ///< physical blocks, the null block included
  /// F32 or BF16. Nothing: the type that suits the device's attention best, as workbench::suited() knows; F32
  /// if nobody asked the device.
  std::optional<compute::DType> kvType = {};
  bool cacheTails = true;
  std::string salt;                ///< tenant
  std::int32_t rowsPerPass = 512;  ///< most rows of one forward pass; at least 1
  /// The store of keys and values that leave the pool or are to outlive the session. By default it is off.
  cache::SpanStoreConfig store = {};
  /// The last numbers of runs and requests in earlier sessions. The numbers of this session go on from there,
  /// so that a number means one run among all sessions.
  RunId lastRun = 0;
  RequestId lastRequest = 0;
};

}  // namespace spanscope::run
