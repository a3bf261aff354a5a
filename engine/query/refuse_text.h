// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/diagnostic.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace spanscope::query {

/// What is wrong with a text before its form matters: its size, bytes that are not UTF-8.
std::optional<Diagnostic> refuseText(std::string_view text, std::size_t maxBytes);

}  // namespace spanscope::query
