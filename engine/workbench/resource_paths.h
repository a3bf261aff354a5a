// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace spanscope::workbench {

/// The folder that contains `models` and `queries`: in the installation from which the program runs, or in
/// the source tree from which it was built. Throws Failure that names the searched places.
std::filesystem::path resourceDirectory();

/// The model that comes with the program.
std::filesystem::path bundledModelDirectory();

}  // namespace spanscope::workbench
