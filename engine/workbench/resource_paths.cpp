// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/resource_paths.h"

#include "engine/base/error.h"

#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::workbench {
namespace {

/// All paths are relative to the folder of the program. An installation can therefore be moved, and no
/// program contains a path of the build machine. A build folder has links at these paths.
std::vector<std::filesystem::path> candidates() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  std::vector<std::filesystem::path> places;
  for (const char* folder : {SPANSCOPE_RESOURCES_FOLDER, "../share/spanscope"}) {
    std::filesystem::path place = (program / folder).lexically_normal();
    if (places.empty() || places.back() != place) places.push_back(std::move(place));
  }
  return places;
}

std::filesystem::path findResources() {
  std::string looked;
  for (const std::filesystem::path& place : candidates()) {
    std::error_code error;
    if (std::filesystem::is_directory(place / "models", error)) {
      // The user sees the path of the folder itself, not the path of a link.
      const std::filesystem::path folder = std::filesystem::canonical(place, error);
      return error ? place : folder;
    }
    if (!looked.empty()) looked += ", ";
    looked += place.string();
  }
  throw Failure({.file = {},
                 .place = "resources",
                 .found = "no folder",
                 .expected = "a folder with models and queries at " + looked});
}

}  // namespace

std::filesystem::path resourceDirectory() {
  // The result is kept, because every typed key needs the folder and resources do not move while the program
  // runs.
  static const std::filesystem::path found = findResources();
  return found;
}

std::filesystem::path bundledModelDirectory() {
  return resourceDirectory() / "models" / "spanlet";
}

}  // namespace spanscope::workbench
