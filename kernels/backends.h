// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

namespace spanscope {

/// The backends that the programs, benchmarks and tests have, in the order in which they are preferred. The
/// only place that names them.
compute::Backends programBackends();

}  // namespace spanscope
