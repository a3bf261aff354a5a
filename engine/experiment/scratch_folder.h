// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace spanscope::experiment {

/// A folder of its own in another one, for what is stored while something is measured; it goes with this. It
/// is made by whoever stores there.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

}  // namespace spanscope::experiment
