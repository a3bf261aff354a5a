// SPDX-License-Identifier: GPL-3.0-or-later
// The kinds of devices that documents and options may name, and what is known of each before it is opened.
// The registry's row of a kind (engine/compute/backends.h) takes its name from here.
#pragma once

#include "engine/base/translation.h"

#include <array>
#include <string_view>

namespace spanscope::compute {

struct DeviceKind {
  const char* name = "";       ///< "cpu"; its devices are "cuda:0", "cuda:1", …
  const char* label = "";      ///< what people call it
  bool isAlwaysThere = false;  ///< every machine has one, and no second: its name takes no number
  /// Rows are bit-equal (DeviceInfo::rowsAreBitEqual) without being asked for; of other kinds nobody knows
  /// before a device is opened.
  bool rowsAreBitEqual = false;
};

inline constexpr DeviceKind kProcessor{.name = "cpu",
                                       .label = forTranslation("spanscope::workbench", "processor"),
                                       .isAlwaysThere = true,
                                       .rowsAreBitEqual = true};
inline constexpr DeviceKind kNvidiaCards{
    .name = "cuda", .label = forTranslation("spanscope::workbench", "NVIDIA GPU (CUDA)")};

/// In the order in which people are offered them; the first is always there.
inline constexpr std::array kDeviceKinds{&kProcessor, &kNvidiaCards};
static_assert(kDeviceKinds.front()->isAlwaysThere);

/// The kind of "cpu", "cuda" or "cuda:1"; nullptr: there is none of this name. It says nothing about which
/// devices this machine has.
const DeviceKind* deviceKindOf(std::string_view device);

}  // namespace spanscope::compute
