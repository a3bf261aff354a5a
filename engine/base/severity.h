// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace spanscope {

/// How much something that is said matters. Trace files hold the numbers.
enum class Severity : std::uint8_t {
  Note,     ///< it is good to know
  Warning,  ///< advice: it is done, but probably not what was meant
  Error,    ///< it is refused, or went wrong
};

}  // namespace spanscope
