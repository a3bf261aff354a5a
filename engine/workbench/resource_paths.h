// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the bundled files of the program. Open this file when the bundled model is not found.
#pragma once

#include <filesystem>

namespace spanscope::workbench {

/// Returns the folder with `models` and `queries`. The folder is in the installation of the running program,
/// or in the source tree. Throws Failure that names the searched places.
std::filesystem::path resourceDirectory();

/// Returns the bundled model.
std::filesystem::path bundledModelDirectory();

}  // namespace spanscope::workbench
