// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <cstdint>
#include <string>

namespace spanscope::cli {

/// Ends the command for what an option says: "--observe: found 9, expected a layer from 0 to 5" and exit
/// code 2. May be called while the options are read and afterwards, where only the model or a file shows the
/// mistake.
[[noreturn]] void refuseOption(const std::string& option, const std::string& found,
                               const std::string& expected);

/// Refuses an id that a vocabulary of that size does not have.
void checkId(const std::string& option, TokenId id, std::int32_t vocabularySize);

}  // namespace spanscope::cli
