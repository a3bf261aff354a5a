// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/diagnostic.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::query {

/// Checks a text before its form matters: its size, and whether it is UTF-8. Nothing if there is no error.
std::optional<Diagnostic> refuseText(std::string_view text, std::size_t maxBytes);

/// The text with line feeds, if its lines end in carriage returns alone, as old programs write them; else
/// nothing. Each byte keeps its place.
std::optional<std::string> withLineFeeds(std::string_view text);

}  // namespace spanscope::query
