// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>

namespace spanscope::text {

/// The GGUF file of a model directory; of a model in parts (-00001-of-00003.gguf) the first, which holds the
/// metadata. Throws Failure if there are several models.
std::optional<std::filesystem::path> findGguf(const std::filesystem::path& directory);

}  // namespace spanscope::text
