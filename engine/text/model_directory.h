// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <filesystem>

namespace spanscope::text {

/// Throws Failure, naming the path that was given, unless it is a directory.
void requireModelDirectory(const std::filesystem::path& directory);

/// What to say where a whole checkpoint is wanted and a GGUF file is there.
Failure ggufIsNoCheckpoint(const std::filesystem::path& file);

}  // namespace spanscope::text
