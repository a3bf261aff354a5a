// SPDX-License-Identifier: GPL-3.0-or-later
// What the backends of IBM/spnl 0.22 can do. The provider is the part of a model's name before the first '/'.
#pragma once

#include <string_view>

namespace spanscope::spnl {

/// Whether the server behind the model reuses spans. Only then are inner prompts distributed.
bool supportsSpans(std::string_view model);

/// Whether `repeat` is sent unchanged; if not, it is written out as a plus of generates.
bool supportsBulkRepeat(std::string_view model);

/// Whether `map` is sent unchanged; if not, it is written out as a plus of generates.
bool supportsBulkMap(std::string_view model);

}  // namespace spanscope::spnl
