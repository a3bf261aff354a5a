// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/published_checkpoints.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>

namespace spanscope::model {
namespace {

/// By their names on the hub: ldsjmdy/Tulu3-Block-FT and those of hxia7.
constexpr std::array<std::string_view, 5> kNames = {"Tulu3-Block-FT", "Llama-3.2-1B-Block-FT",
                                                    "Llama-3.1-8B-Block-FT", "Qwen3-8B-Block-FT",
                                                    "qwen3-4b-blockdist"};

bool isNamed(const std::string& folder, std::string_view name) {
  return folder == name || (folder.starts_with("models--") && folder.ends_with("--" + std::string(name)));
}

}  // namespace

bool isPublishedForBlockAttention(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  return std::any_of(whole.begin(), whole.end(), [](const std::filesystem::path& part) {
    const std::string folder = part.string();
    return std::any_of(kNames.begin(), kNames.end(),
                       [&folder](std::string_view name) { return isNamed(folder, name); });
  });
}

}  // namespace spanscope::model
