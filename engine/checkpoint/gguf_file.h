// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace spanscope::checkpoint {

/// The GGUF files of a directory in the order of their names; of a model in parts (-00001-of-00003.gguf) the
/// first, which holds the metadata.
std::vector<std::filesystem::path> ggufFiles(const std::filesystem::path& directory);

/// The GGUF file of a model directory. Throws Failure if there are several models.
std::optional<std::filesystem::path> findGguf(const std::filesystem::path& directory);

}  // namespace spanscope::checkpoint
