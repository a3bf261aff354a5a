// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <vector>

namespace spanscope::checkpoint {

/// The GGUF files of a directory, ordered by name. If a model has several parts (-00001-of-00003.gguf), only
/// the first part is listed; it contains the metadata.
std::vector<std::filesystem::path> ggufFiles(const std::filesystem::path& directory);

/// Whether a regular file begins as GGUF files do, whatever its name is.
bool isGguf(const std::filesystem::path& path);

}  // namespace spanscope::checkpoint
