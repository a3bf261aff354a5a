// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace spanscope::workbench {

/// The models that a person opened last, as far as they still lie there.
class RecentModels {
 public:
  static constexpr std::size_t kMost = 8;

  RecentModels() = default;  ///< until the program ends
  /// Keeps them in a file, which other programs may share. A file that cannot be read counts as empty, and
  /// one that cannot be written is left alone: what it holds is a convenience.
  explicit RecentModels(std::filesystem::path file);

  /// Directories and GGUF files, the newest first, at most kMost.
  std::vector<std::filesystem::path> list() const;
  /// Puts a model in front. It is kept by its absolute path.
  void note(const std::filesystem::path& model);

 private:
  std::vector<std::filesystem::path> read() const;

  std::filesystem::path m_file;
  std::vector<std::filesystem::path> m_models;  ///< those of a program without a file
};

/// The usual file of this user: spanscope/recent-models.json in the folder for caches. Empty: there is no
/// such folder.
std::filesystem::path standardRecentModelsFile();

}  // namespace spanscope::workbench
