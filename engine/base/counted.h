// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a number with its noun. Open this file before you write "1 block(s)".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace spanscope {

/// Returns a number followed by the noun in the matching form: "1 query", "2 queries", "0 queries".
template <std::integral Number>
std::string counted(Number count, std::string_view one, std::string_view many) {
  return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

/// Returns a number and a noun whose plural only adds an s: "1 block", "2 blocks".
template <std::integral Number>
std::string counted(Number count, std::string_view one) {
  return counted(count, one, std::string(one) + 's');
}

}  // namespace spanscope
