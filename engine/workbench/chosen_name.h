// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/setting.h"

#include <string>
#include <string_view>

namespace spanscope::workbench {

/// Whether a setting may have this name: one of its choices; for a device also a kind with a number,
/// "cuda:1"; for a policy also a policy with values, "link(64)". No list contains numbers of devices, because
/// only the machine knows how many devices of a kind there are.
bool mayBe(const Setting& setting, std::string_view name);

/// What was expected, if the name is invalid but begins like a valid one, e.g. which values a policy has.
/// Otherwise empty.
std::string expectedBeside(const Setting& setting, std::string_view name);

}  // namespace spanscope::workbench
