// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace spanscope {

/// Identifies a file, whatever path led to it: symbolic and hard links of one file have the same identity.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;  ///< of the file on the device

  bool operator==(const FileIdentity&) const = default;
};

/// The identity of the file that the path leads to. Nothing if there is no such file, or it cannot be
/// reached.
std::optional<FileIdentity> identityOf(const std::filesystem::path& path);

}  // namespace spanscope
