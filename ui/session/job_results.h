// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/jobs/job.h"
#include "ui/session/trace_store.h"
#include "ui/session/view_input.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace spanscope::ui {

/// What came of the newest job of a kind of engine/jobs with these arguments among the first `count` events.
/// Null: it did not finish, or there is none, or what a file has of it cannot be shown.
template <class Kind>
std::shared_ptr<const typename Kind::Result> jobResult(const TraceStore& trace, std::size_t count,
                                                       const typename Kind::Arguments& arguments) {
  using Result = typename Kind::Result;
  const trace::JobEnded* job = trace.lastJob(Kind::kId, trace::pack(arguments), count);
  if (job == nullptr || job->outcome != trace::JobOutcome::Finished) return nullptr;
  auto& [packed, result] = trace.jobResultMemo(Kind::kId);
  if (!result || !packed.bytes.isCopyOf(job->result.bytes)) {
    std::optional<Result> read = trace::unpack<Result>(job->result);
    if (!read || !Kind::isSound(*read)) return nullptr;
    packed = job->result;
    result = std::make_shared<const Result>(std::move(*read));
  }
  return std::static_pointer_cast<const Result>(result);
}

/// The same among the results that the input shows.
template <class Kind>
std::shared_ptr<const typename Kind::Result> jobResult(const ViewInput& input,
                                                       const typename Kind::Arguments& arguments) {
  return jobResult<Kind>(*input.trace, input.replay.results, arguments);
}

}  // namespace spanscope::ui
