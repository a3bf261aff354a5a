// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

namespace spanscope {

/// Output could not be written, e.g. because its path is wrong or the disk is full. The input is not at
/// fault.
class OutputFailure final : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace spanscope
