// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// The elements of a JSON list of texts; nothing if `json` is no such list.
std::optional<std::vector<std::string>> readJsonTexts(std::string_view json);

}  // namespace spanscope::query
