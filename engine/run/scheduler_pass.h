// SPDX-License-Identifier: GPL-3.0-or-later
// One forward pass of the scheduler, from its assembly to the reports of its results. Open this file to
// change which rows share a forward pass.
#pragma once

#include "engine/model/decoder.h"
#include "engine/policy/compute_plan.h"
#include "engine/run/observation.h"
#include "engine/run/scheduler.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::run {

/// The answers that are generated together, in the order of their places. These answers are the input of a
/// compute plan.
struct Scheduler::AnswersInStep {
  std::vector<policy::Answer> answers;
  std::size_t own = 0;  ///< index of the answer that the rows continue
};

struct Scheduler::Pass {
  struct Part {
    Request* request = nullptr;
    std::uint32_t segment = 0;
    std::int32_t begin = 0;
    std::int32_t count = 0;
    bool decode = false;
    bool repeated =
        false;  ///< recomputed: the rows were computed before a preemption, or before the copy of a segment
    std::int32_t firstLogit =
        -1;  ///< index of its first row in the logits of the forward pass; −1: no logits
    std::int32_t logitCount = 0;
    bool drawn = false;  ///< whether a token is sampled from its last row of logits
  };
  /// The computed rows of a copy (policy::SegmentRows::copyOf). Later layers may leave some of these rows
  /// out.
  struct Copy {
    std::size_t run = 0;   ///< index of the query run of the rows
    std::size_t part = 0;  ///< index of the part of the rows
    std::uint32_t group = 0;
  };
  /// The joint segments of a request. A forward pass computes the joint segments of at most one request.
  struct Joint {
    const Request* request = nullptr;
    std::vector<Copy> copies;  ///< in the order of their rows
  };
  model::Batch batch;
  std::optional<Joint> joint;
  std::vector<std::int32_t> mostTokens;  ///< by draw: max tokens of its answer
  std::vector<Part> parts;
  std::vector<ObservedRun> observed;

  std::int32_t rows() const { return static_cast<std::int32_t>(batch.tokens.size()); }
};

}  // namespace spanscope::run
