// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/gguf/gguf_paths.h"

#include "engine/base/error.h"

#include <algorithm>
#include <string>
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

std::optional<std::filesystem::path> findGguf(const std::filesystem::path& directory) {
  const std::vector<std::filesystem::path> found = ggufFiles(directory);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) {
    throw Failure({directory.string(), "",
                   found[0].filename().string() + " and " + found[1].filename().string(),
                   "one GGUF model in the directory"});
  }
  return found.front();
}

}  // namespace spanscope::checkpoint
