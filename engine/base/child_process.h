// SPDX-License-Identifier: GPL-3.0-or-later
// Starts helper programs that read input from unknown sources. Open this file to change how such a program is
// separated from this one.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope {

/// A helper program. The program is killed on destruction. The program has its own process group and default
/// signal handlers. The program inherits no open file except its input and output.
class ChildProcess {
 public:
  ChildProcess() = default;
  ~ChildProcess() { end(); }
  ChildProcess(ChildProcess&& other) noexcept : m_process(std::exchange(other.m_process, 0)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(m_process, other.m_process);
    return *this;
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Starts the program at the path words[0]. `input` and `output` are descriptors for its standard input and
  /// output; its messages are dropped. `environment`: entries NAME=VALUE; nothing: as this program.
  /// Returns 0, or the error number.
  int start(std::vector<std::string> words, int input, int output,
            std::optional<std::vector<std::string>> environment = std::nullopt);

  bool isRunning() const { return m_process != 0; }
  /// The number of the process; 0 if none was started.
  pid_t number() const { return m_process; }

  /// Kills the process if it still runs. Returns the status of waitpid(), or nothing if the status is
  /// unknown.
  std::optional<int> end();
  /// Waits for the process after it has closed its output. Returns the same status.
  std::optional<int> wait();

 private:
  pid_t m_process = 0;
};

/// Returns the path of a helper program. `fromPrograms` is its path from the folder of installed programs, as
/// in the folder of the build. Programs of tests are one folder deeper. If the program is missing, returns
/// the last place.
std::filesystem::path helperProgram(std::string_view fromPrograms);

}  // namespace spanscope
