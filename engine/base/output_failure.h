// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

namespace spanscope {

/// What came out could not be written: its place is wrong or full, and nothing that was read.
class OutputFailure final : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace spanscope
