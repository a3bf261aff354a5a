// SPDX-License-Identifier: GPL-3.0-or-later
// Defines a request for a job: its kind and arguments. Open this file to see how a job is requested.
#pragma once

#include "engine/trace/event.h"

#include <string>

namespace spanscope::jobs {

/// A kind of job (engine/jobs/job.h) and its arguments.
struct JobCall {
  std::string kind;
  trace::PackedValue arguments;
  bool operator==(const JobCall&) const = default;
};

}  // namespace spanscope::jobs
