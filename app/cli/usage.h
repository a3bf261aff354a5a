// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <cstdint>
#include <string>

namespace spanscope::cli {

/// Ends the command because an option is wrong, with a message such as "--observe: found 9, expected a layer
/// from 0 to 5" and exit code 2. It throws CLI::ValidationError. It may be called while options are read, or
/// later if only the model or a file shows the mistake.
[[noreturn]] void refuseOption(const std::string& option, const std::string& found,
                               const std::string& expected);

/// Refuses an id that a vocabulary of this size does not have.
void checkId(const std::string& option, TokenId id, std::int32_t vocabularySize);

}  // namespace spanscope::cli
