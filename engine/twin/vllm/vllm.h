// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/twin/servers.h"

namespace spanscope::twin {

/// vLLM 0.33.0 with a model whose layers all have full attention.
extern const Server kVllm;

}  // namespace spanscope::twin
