// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/service/job_service.h"

#include <functional>
#include <memory>

namespace spanscope::ui {

/// Submits a job to the service of the embedded engine. Can be called on any thread.
using JobSubmitter = std::function<workbench::JobHandle(std::shared_ptr<workbench::Job>)>;

}  // namespace spanscope::ui
