// SPDX-License-Identifier: GPL-3.0-or-later
// What a session is made with.
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
  /// F32 or BF16. Nothing: what the device attends to best, as workbench::suited() knows; f32 where nobody
  /// asked it.
  std::optional<compute::DType> kvType = {};
  bool cacheTails = true;
  std::string salt;                ///< tenant
  std::int32_t rowsPerPass = 512;  ///< most rows of one forward pass; at least 1
  /// Where keys and values go that leave the pool or are to outlive the session; off as it is here.
  cache::SpanStoreConfig store = {};
  /// The last numbers that runs and requests of sessions before had: those of this one go on from there, so
  /// that a number means one run among all of them.
  RunId lastRun = 0;
  RequestId lastRequest = 0;
};

}  // namespace spanscope::run
