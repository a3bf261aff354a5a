// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/setting.h"

#include <string_view>

namespace spanscope::workbench {

/// Whether a setting may have this name: one of its choices, or of a device the number behind its kind,
/// "cuda:1". How many there are of a kind is known to the machine alone, so that no list has them.
bool mayBe(const Setting& setting, std::string_view name);

}  // namespace spanscope::workbench
