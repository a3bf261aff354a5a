// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <filesystem>

namespace spanscope::text {

/// Throws Failure that names the given path, unless it is a directory.
void requireModelDirectory(const std::filesystem::path& directory);

/// The failure for a GGUF file in a place where a whole checkpoint is needed.
Failure ggufIsNoCheckpoint(const std::filesystem::path& file);

}  // namespace spanscope::text
