// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace spanscope::experiment {

/// A separate folder within another one, for files that are stored during a measurement. It is removed on
/// destruction. Whoever stores files there makes it.
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
