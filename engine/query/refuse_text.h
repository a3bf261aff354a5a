// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/diagnostic.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace spanscope::query {

/// Checks a text before its form matters: its size, and whether it is UTF-8. Nothing if there is no error.
std::optional<Diagnostic> refuseText(std::string_view text, std::size_t maxBytes);

}  // namespace spanscope::query
