// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace spanscope {

/// A number followed by the noun in the form that fits the number: "1 reply", "2 replies", "0 replies".
template <std::integral Number>
std::string counted(Number count, std::string_view one, std::string_view many) {
  return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

/// The same for a noun whose plural only adds an s: "1 block", "2 blocks".
template <std::integral Number>
std::string counted(Number count, std::string_view one) {
  return counted(count, one, std::string(one) + 's');
}

}  // namespace spanscope
