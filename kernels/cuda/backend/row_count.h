// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace spanscope::cuda {

/// Rows of a pass or a tensor, and with those that are computed beside them for nothing.
struct RowCount {
  std::int64_t own = 0;
  std::int64_t padded = 0;  ///< at least as many
};

}  // namespace spanscope::cuda
