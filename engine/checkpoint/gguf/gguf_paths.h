// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace spanscope::checkpoint {

/// The GGUF files of a directory, ordered by name. If a model has several parts (-00001-of-00003.gguf), only
/// the first part is listed; it contains the metadata.
std::vector<std::filesystem::path> ggufFiles(const std::filesystem::path& directory);

/// Whether a regular file begins as GGUF files do, whatever its name is.
bool isGguf(const std::filesystem::path& path);

/// The GGUF file that is meant where a whole model is wanted: the path itself, or the only such file of a
/// directory without weights as safetensors. Nothing if the path is no such thing. Throws Failure if the
/// directory contains several models.
std::optional<std::filesystem::path> ggufModel(const std::filesystem::path& path);

/// The GGUF file of a model directory, or the path itself if it is one; nothing if there is none. Throws
/// Failure if the directory contains several models.
std::optional<std::filesystem::path> findGguf(const std::filesystem::path& directory);

}  // namespace spanscope::checkpoint
