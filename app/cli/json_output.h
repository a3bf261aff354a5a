// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace spanscope::cli {

/// What a command writes for --json, without a line end. Names and messages can hold bytes of files: those
/// that are not UTF-8 become U+FFFD, so that one bad name hides nothing else.
template <typename Json>
std::string jsonText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spanscope::cli
