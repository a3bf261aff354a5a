// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/setting.h"

#include <string>
#include <string_view>

namespace spanscope::workbench {

/// Whether a setting may have this name: one of its choices, of a device the number behind its kind,
/// "cuda:1" (how many there are of a kind is known to the machine alone, so that no list has them), or of a
/// policy its values, "link(64)".
bool mayBe(const Setting& setting, std::string_view name);

/// Of a name that it may not have and that begins like one that it may: what was expected, e.g. which values
/// a policy has; else empty.
std::string expectedBeside(const Setting& setting, std::string_view name);

}  // namespace spanscope::workbench
