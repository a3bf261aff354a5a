// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace spanscope {

/// The name of a member as one step of a JSON pointer (RFC 6901, section 3): "/a~1b" for "a/b".
std::string pointerStep(std::string_view name);

}  // namespace spanscope
