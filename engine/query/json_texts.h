// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// The elements of a JSON list of texts; nothing if `json` is no such list.
std::optional<std::vector<std::string>> readJsonTexts(std::string_view json);

/// The text as JSON, in double quotes. Only what JSON cannot contain within quotes is escaped.
std::string jsonText(std::string_view text);

}  // namespace spanscope::query
