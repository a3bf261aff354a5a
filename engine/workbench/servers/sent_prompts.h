// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the prompts that servers got in a file, so that the next command continues with the same simulated
// cache. The file has the token ids of the prompts and answers. Open this file to change the format.
#pragma once

#include "engine/workbench/servers/simulator_prediction.h"

#include <cstddef>
#include <filesystem>
#include <string>

namespace spanscope::workbench {

/// A file with the histories of servers. The file has the form
/// {"sent_prompts": 1, "servers": {"http://gpu-3:8000": {"prompts": […], "counts": […]}}}.
class SentPromptsFile {
 public:
  /// The max number of tokens of a server. If there are more tokens, the oldest prompts are removed.
  static constexpr std::size_t kMostTokens = std::size_t{1} << 20U;

  explicit SentPromptsFile(std::filesystem::path file) : m_file(std::move(file)) {}

  /// Returns the history of a server. Empty: there is no file, or the file has no such server. Throws Failure
  /// if the file has another form.
  ServerHistory read(const std::string& server) const;
  /// Replaces the history of a server, and keeps all other servers. Throws Failure if the file cannot be
  /// written, or has another form.
  void write(const std::string& server, const ServerHistory& history) const;

 private:
  std::filesystem::path m_file;
};

}  // namespace spanscope::workbench
