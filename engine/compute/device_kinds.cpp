// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/device_kinds.h"

#include <cstddef>

namespace spanscope::compute {

const DeviceKind* deviceKindOf(std::string_view device) {
  constexpr std::size_t kMostDigits = 3;
  const std::size_t colon = device.find(':');
  const bool hasNumber = colon != std::string_view::npos;
  if (hasNumber) {
    const std::string_view number = device.substr(colon + 1);
    if (number.empty() || number.size() > kMostDigits ||
        number.find_first_not_of("0123456789") != std::string_view::npos)
      return nullptr;
  }
  for (const DeviceKind* kind : kDeviceKinds) {
    if (kind->name == device.substr(0, colon)) return hasNumber && kind->isAlwaysThere ? nullptr : kind;
  }
  return nullptr;
}

}  // namespace spanscope::compute
