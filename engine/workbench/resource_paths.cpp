// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/resource_paths.h"

#include "engine/base/error.h"

#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::workbench {
namespace {

/// All are named from the folder of the program, so that an installation may be moved as a whole, and no
/// program has a path of the machine in it that it was built on. The folder of a build has links there.
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
      // What a person reads is the folder itself, not a link to it.
      const std::filesystem::path folder = std::filesystem::canonical(place, error);
      return error ? place : folder;
    }
    if (!looked.empty()) looked += ", ";
    looked += place.string();
  }
  throw Failure({.file = {},
                 .place = "resources",
                 .found = "none",
                 .expected = "a folder with models and queries at " + looked});
}

}  // namespace

std::filesystem::path resourceDirectory() {
  // A program's resources do not move while it runs, and every key that is typed asks for them.
  static const std::filesystem::path found = findResources();
  return found;
}

std::filesystem::path bundledModelDirectory() {
  return resourceDirectory() / "models" / "spanlet";
}

}  // namespace spanscope::workbench
