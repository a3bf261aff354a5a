// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace spanscope::workbench {

/// The folder that holds `models` and `queries`: of the installation the program runs from, or of the source
/// tree it was built from. Throws Failure naming the places that were looked at.
std::filesystem::path resourceDirectory();

/// The model that comes with the program.
std::filesystem::path bundledModelDirectory();

}  // namespace spanscope::workbench
