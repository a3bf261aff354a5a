// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/file_identity.h"

#include <sys/stat.h>

namespace spanscope {

std::optional<FileIdentity> identityOf(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{.device = found.st_dev, .number = found.st_ino};
}

}  // namespace spanscope
