// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/service/work_service.h"

#include <functional>
#include <memory>

namespace spanscope::ui {

/// Has a work done by the service of the embedded engine; called on any thread.
using WorkSubmitter = std::function<workbench::WorkHandle(std::shared_ptr<workbench::Work>)>;

}  // namespace spanscope::ui
