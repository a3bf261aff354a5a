// SPDX-License-Identifier: GPL-3.0-or-later
// One forward pass while the scheduler puts it together, until what it gave was told.
#pragma once

#include "engine/model/decoder.h"
#include "engine/run/observation.h"
#include "engine/run/scheduled_request.h"
#include "engine/run/scheduler.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::run {

struct Scheduler::Pass {
  struct Part {
    Request* request = nullptr;
    std::uint32_t segment = 0;
    std::int32_t begin = 0;
    std::int32_t count = 0;
    bool decode = false;
    bool repeated = false;         ///< computed before a preemption
    std::int32_t firstLogit = -1;  ///< index in the pass's logits, −1: none asked for
    std::int32_t logitCount = 0;
    bool drawn = false;  ///< whether a token is drawn from the last of its logits
  };
  /// Rows of which some may be left out on the way.
  struct Blend {
    const Request* request = nullptr;
    std::size_t firstRun = 0;
    std::size_t runs = 0;
    std::size_t firstPart = 0;
    std::size_t parts = 0;
    std::int64_t rows = 0;
  };
  model::Batch batch;
  std::optional<Blend> blend;
  std::vector<std::int32_t> mostTokens;  ///< of the reply that each draw is for
  std::vector<Part> parts;
  std::vector<ObservedRun> observed;

  std::int32_t rows() const { return static_cast<std::int32_t>(batch.tokens.size()); }
};

}  // namespace spanscope::run
