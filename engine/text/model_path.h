// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <filesystem>

namespace spanscope::text {

/// Throws Failure that names the given path, unless it is a directory or a GGUF file.
void requireModelPath(const std::filesystem::path& path);

}  // namespace spanscope::text
