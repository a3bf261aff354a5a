// SPDX-License-Identifier: GPL-3.0-or-later
// Remembers the speed of models on this machine, for estimates of time. Open this file when an estimate is
// wrong.
#pragma once

#include "engine/experiment/token_amount.h"
#include "engine/workbench/settings.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace spanscope::workbench {

/// Remembers the speed of models on this machine, so that a job's time can be estimated. Any thread may call
/// any function. Newer measurements count more: the weight of older tokens is halved repeatedly.
class SpeedRecords {
 public:
  SpeedRecords() = default;  ///< keeps the speeds in memory until the program ends
  /// Keeps the speeds in a file, which other programs may share. An unreadable file counts as empty. A file
  /// that cannot be written is ignored, because the speeds are only a convenience.
  explicit SpeedRecords(std::filesystem::path file);

  /// Returns the measured speed for the model, device, threads and arithmetic of `settings`. Nothing: no
  /// speed was measured.
  std::optional<experiment::SpeedSample> find(const RunSettings& settings) const;
  void note(const RunSettings& settings, const experiment::SpeedSample& sample);
  /// The same for a server, by its name in the list of servers or its kind ("vllm").
  std::optional<experiment::SpeedSample> findServer(const std::string& server) const;
  void noteServer(const std::string& server, const experiment::SpeedSample& sample);

 private:
  using Paces = std::map<std::string, experiment::SpeedSample>;
  std::optional<experiment::SpeedSample> findKey(const std::string& key) const;
  void noteKey(const std::string& key, const experiment::SpeedSample& sample);
  void read(Paces& into) const;
  void write() const;

  std::filesystem::path m_file;
  mutable std::mutex m_mutex;
  mutable Paces m_paces;
};

/// Returns the usual file of this user: spanscope/paces.json in the folder for caches. Empty: there is no
/// such folder.
std::filesystem::path standardSpeedFile();

}  // namespace spanscope::workbench
