// SPDX-License-Identifier: GPL-3.0-or-later
// Writes JSON. Open this file before you call dump().
#pragma once

#include <string>

namespace spanscope {

/// Returns the JSON on one line. Bytes that are not UTF-8 become U+FFFD.
template <class Json>
std::string compactJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spanscope
