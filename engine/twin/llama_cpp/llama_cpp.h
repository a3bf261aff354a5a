// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/twin/servers.h"

namespace spanscope::twin {

/// llama-server of llama.cpp 0c1e57098 with a model whose layers all have full attention.
extern const Server kLlamaCpp;

}  // namespace spanscope::twin
