// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/resource_paths.h"

#include "engine/base/error.h"

#include <string>
#include <system_error>
#include <vector>

namespace spanscope::workbench {
namespace {

std::vector<std::filesystem::path> candidates() {
  std::vector<std::filesystem::path> places;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  // An installation may have been moved as a whole, so what stands beside the program comes before what the
  // build was told.
  if (!error) places.push_back(program.parent_path().parent_path() / "share" / "spanscope");
  places.emplace_back(SPANSCOPE_SOURCE_RESOURCES);
  places.emplace_back(SPANSCOPE_INSTALLED_RESOURCES);
  return places;
}

std::filesystem::path findResources() {
  std::string looked;
  for (const std::filesystem::path& place : candidates()) {
    std::error_code error;
    if (std::filesystem::is_directory(place / "models", error)) return place;
    if (!looked.empty()) looked += ", ";
    looked += place.string();
  }
  throw Failure({.file = {},
                 .place = "resources",
                 .found = "none",
                 .expected = "a folder with models and queries at one of " + looked});
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
