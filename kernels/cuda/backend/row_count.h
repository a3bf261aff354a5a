// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace spanscope::cuda {

/// Number of rows of a pass or a tensor, without and with padding rows, whose results nobody reads.
struct RowCount {
  std::int64_t own = 0;
  std::int64_t padded = 0;  ///< at least `own`
};

}  // namespace spanscope::cuda
