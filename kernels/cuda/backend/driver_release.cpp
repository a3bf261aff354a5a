// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/driver_release.h"

namespace spanscope::cuda {

std::string driverReleaseIn(std::string_view line) {
  constexpr std::string_view kDigits = "0123456789";
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size() < line.size() ? word.size() + 1 : word.size());
    const bool isNumber = word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (isNumber && word.find('.') != std::string_view::npos && kDigits.find(word.front()) != kDigits.npos)
      return std::string(word);
  }
  return {};
}

}  // namespace spanscope::cuda
