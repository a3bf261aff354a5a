// SPDX-License-Identifier: GPL-3.0-or-later
// Remembers the models that the user opened last. Open this file to change the list of recent models.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace spanscope::workbench {

/// The models that the user opened last, if they still exist.
class RecentModels {
 public:
  static constexpr std::size_t kMost = 8;

  RecentModels() = default;  ///< until the program ends
  /// Keeps the models in a file, which other programs may share. An unreadable file counts as empty. A file
  /// that cannot be written is ignored, because the list is only a convenience.
  explicit RecentModels(std::filesystem::path file);

  /// Returns directories and GGUF files, the newest first, at most kMost.
  std::vector<std::filesystem::path> list() const;
  /// Makes this model the newest in the list. The list has the absolute path of the model.
  void note(const std::filesystem::path& model);

 private:
  std::vector<std::filesystem::path> read() const;

  std::filesystem::path m_file;
  std::vector<std::filesystem::path> m_models;  ///< the models of a program without a file
};

/// Returns the usual file of this user: spanscope/recent-models.json in the folder for caches. Empty: there
/// is no such folder.
std::filesystem::path standardRecentModelsFile();

}  // namespace spanscope::workbench
