// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace spanscope::checkpoint {

/// Reads a regular file of at most `limit` bytes. Throws Failure with the path; `what` is what the file
/// should be, e.g. "a sentencepiece model".
std::string readFileBytes(const std::filesystem::path& path, std::uintmax_t limit, std::string_view what);

/// Throws Failure if the bytes are not those of the file, but what Git LFS puts in its place until the file
/// is fetched.
void refusePointer(std::string_view bytes, const std::filesystem::path& path);

}  // namespace spanscope::checkpoint
