// SPDX-License-Identifier: GPL-3.0-or-later
// What the backends of IBM/spnl 0.22 can do. The provider stands before the first '/' of a model's name.
#pragma once

#include <string_view>

namespace spanscope::spnl {

/// Whether the server behind the model reuses spans: only then are inner prompts distributed.
bool supportsSpans(std::string_view model);

/// Whether `repeat` is sent as it is; if not, it is written out as a plus of generates.
bool supportsBulkRepeat(std::string_view model);

/// Whether `map` is sent as it is; if not, it is written out as a plus of generates.
bool supportsBulkMap(std::string_view model);

}  // namespace spanscope::spnl
