// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace spanscope::model {

/// Whether a model lies in a folder with the name of a published checkpoint that was trained for block
/// attention and does not say so in its configuration: ".../Tulu3-Block-FT", or in the cache of Hugging Face
/// ".../models--ldsjmdy--Tulu3-Block-FT/snapshots/…".
bool isPublishedForBlockAttention(const std::filesystem::path& path);

}  // namespace spanscope::model
