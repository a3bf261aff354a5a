// SPDX-License-Identifier: GPL-3.0-or-later
// One forward pass while the scheduler puts it together, until what it gave was told.
#pragma once

#include "engine/model/decoder.h"
#include "engine/policy/reply_rows.h"
#include "engine/run/observation.h"
#include "engine/run/scheduled_request.h"
#include "engine/run/scheduler.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::run {

/// What a row plan is told of the replies that are generated in step, in the order of their places.
struct Scheduler::RepliesInStep {
  std::vector<policy::Reply> replies;
  std::size_t own = 0;  ///< index of the one that is asked about
};

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
  /// Computed rows of a copy (policy::SegmentRows::copyOf), some of which may be left out on the way.
  struct Copy {
    std::size_t run = 0;   ///< their query run
    std::size_t part = 0;  ///< which of the parts they are
    std::uint32_t group = 0;
  };
  /// The joint segments of a request. A pass has those of one request at most.
  struct Joint {
    const Request* request = nullptr;
    std::vector<Copy> copies;  ///< in the order of their rows
  };
  model::Batch batch;
  std::optional<Joint> joint;
  std::vector<std::int32_t> mostTokens;  ///< of the reply that each draw is for
  std::vector<Part> parts;
  std::vector<ObservedRun> observed;

  std::int32_t rows() const { return static_cast<std::int32_t>(batch.tokens.size()); }
};

}  // namespace spanscope::run
