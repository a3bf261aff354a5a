// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace spanscope {

/// "1 reply", "2 replies", "0 replies": a number and what is counted, in the form that goes with it.
template <std::integral Number>
std::string counted(Number count, std::string_view one, std::string_view many) {
  return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

/// "1 block", "2 blocks": of a noun that only takes an s.
template <std::integral Number>
std::string counted(Number count, std::string_view one) {
  return counted(count, one, std::string(one) + 's');
}

}  // namespace spanscope
