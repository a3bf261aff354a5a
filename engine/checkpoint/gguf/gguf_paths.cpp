// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/gguf/gguf_paths.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace spanscope::checkpoint {
namespace {

/// "-00002-of-00003" at the end of the name, but not the first part.
bool isLaterPart(const std::string& stem) {
  constexpr std::size_t kSuffix = 15;
  if (stem.size() < kSuffix) return false;
  const std::string suffix = stem.substr(stem.size() - kSuffix);
  return suffix[0] == '-' && suffix.compare(6, 4, "-of-") == 0 && suffix.compare(1, 5, "00001") != 0;
}

}  // namespace

std::vector<std::filesystem::path> ggufFiles(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    if (path.extension() == ".gguf" && !isLaterPart(path.stem().string())) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool isGguf(const std::filesystem::path& path) {
  constexpr std::string_view kMagic = "GGUF";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::array<char, kMagic.size()> bytes{};
  std::ifstream stream(path, std::ios::binary);
  return stream.read(bytes.data(), bytes.size()) && std::string_view(bytes.data(), bytes.size()) == kMagic;
}

}  // namespace spanscope::checkpoint
