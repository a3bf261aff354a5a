// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/token_amount.h"
#include "engine/workbench/settings.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace spanscope::workbench {

/// Remembers how fast models were on this machine, so that it can be said how long something will take. Any
/// thread may call any function. What is newer counts more: older tokens are forgotten by halves.
class PaceBook {
 public:
  PaceBook() = default;  ///< until the program ends
  /// Keeps it in a file, which other programs may share. A file that cannot be read counts as empty, and one
  /// that cannot be written is left alone: what it holds is a convenience.
  explicit PaceBook(std::filesystem::path file);

  /// The pace with the settings of this model and device; nothing: none was measured.
  std::optional<experiment::PaceSample> find(const RunSettings& settings) const;
  void note(const RunSettings& settings, const experiment::PaceSample& sample);

 private:
  using Paces = std::map<std::string, experiment::PaceSample>;
  void read(Paces& into) const;
  void write() const;

  std::filesystem::path m_file;
  mutable std::mutex m_mutex;
  mutable Paces m_paces;
};

/// The usual file of this user: spanscope/paces.json in the folder for caches. Empty: there is no such
/// folder.
std::filesystem::path standardPaceFile();

}  // namespace spanscope::workbench
