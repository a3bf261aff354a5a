// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <system_error>

namespace spanscope {
namespace {

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  std::transform(texts.begin(), texts.end(), std::back_inserter(pointers),
                 [](std::string& text) { return text.data(); });
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

int ChildProcess::start(std::vector<std::string> words, int input, int output,
                        std::optional<std::vector<std::string>> environment) {
  end();
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // Files that were opened without O_CLOEXEC must not reach the process.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  // Signals that this program blocks or ignores end the process. Signals of the terminal reach only this
  // program.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const std::vector<char*> arguments = pointersTo(words);
  std::vector<char*> entries;
  if (environment) entries = pointersTo(*environment);
  const int failed = posix_spawn(&m_process, words.front().c_str(), &actions, &attributes, arguments.data(),
                                 environment ? entries.data() : environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) m_process = 0;
  return failed;
}

std::optional<int> ChildProcess::end() {
  if (m_process == 0) return std::nullopt;
  kill(m_process, SIGKILL);
  return wait();
}

std::optional<int> ChildProcess::wait() {
  const pid_t process = std::exchange(m_process, 0);
  if (process == 0) return std::nullopt;
  int status = 0;
  pid_t waited = 0;
  do {
    waited = waitpid(process, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited != process) return std::nullopt;
  return status;
}

std::filesystem::path helperProgram(std::string_view fromPrograms) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::filesystem::path place;
  for (const std::filesystem::path& folder : {program / "..", program}) {
    place = (folder / fromPrograms).lexically_normal();
    if (std::filesystem::exists(place, error)) break;
  }
  return place;
}

}  // namespace spanscope
