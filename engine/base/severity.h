// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace spanscope {

/// How much a message matters. Trace files hold the numbers.
enum class Severity : std::uint8_t {
  Note,     ///< worth knowing
  Warning,  ///< advice: the program goes on, but the input probably does not say what its author meant
  Error,    ///< the program refuses the input, or something went wrong
};

}  // namespace spanscope
