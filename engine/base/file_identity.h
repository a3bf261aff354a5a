// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace spanscope {

/// Which file it is, whatever name it was reached by: symbolic and hard links lead to the same one.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;  ///< of the file on it

  bool operator==(const FileIdentity&) const = default;
};

/// Of what a path leads to. Nothing: there is no such file, or it cannot be reached.
std::optional<FileIdentity> identityOf(const std::filesystem::path& path);

}  // namespace spanscope
