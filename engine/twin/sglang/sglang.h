// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/twin/servers.h"

namespace spanscope::twin {

/// SGLang 0.5.23 with a model whose layers all have full attention.
extern const Server kSglang;

}  // namespace spanscope::twin
