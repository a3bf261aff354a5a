// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/store_folder.h"

#include "engine/base/problem_sentence.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace spanscope::cache {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;
constexpr mode_t kOthers = 077;
constexpr std::string_view kMarker = "Spanscope span store 1\n";
// Backup programs skip folders with this file (bford.info/cachedir).
constexpr std::string_view kCacheTag = "Signature: 8a477f597d28d172789f06886806bc55\n";

[[noreturn]] void refuse(const fs::path& path, std::string found, std::string expected) {
  throw Failure(
      {.file = path.string(), .place = {}, .found = std::move(found), .expected = std::move(expected)});
}
[[noreturn]] void refuse(const fs::path& path, int error, std::string expected) {
  refuse(path, systemReport(error), std::move(expected));
}

std::string octal(mode_t mode) {
  std::string text;
  for (int shift = 6; shift >= 0; shift -= 3)
    text += static_cast<char>('0' + (mode >> static_cast<unsigned>(shift) & 7U));
  return text;
}

/// Throws Failure if other users could read or change the folder or file.
void requireOwnStatus(const fs::path& path, const struct stat& status) {
  if (status.st_uid != ::geteuid())
    refuse(path, "a file or folder of another user", "a file or folder of the current user");
  if ((status.st_mode & kOthers) != 0)
    refuse(path, "permissions " + octal(status.st_mode & 0777U) + ", which give access to other users",
           "permissions for the owner only. Run chmod 700");
}

/// Makes a file with its whole text in one step, unless the file exists already.
void makeFile(const fs::path& path, std::string_view text) {
  if (fs::exists(path)) return;
  const fs::path part =
      path.parent_path() / ("." + path.filename().string() + "." + std::to_string(::getpid()) + ".part");
  ::unlink(part.c_str());
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (file < 0) refuse(part, errno, "a file that can be written");
  const bool isWritten =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  // If several processes make the file at the same time, the first file stays.
  const bool isNamed = isWritten && (::link(part.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int linkError = errno;
  ::unlink(part.c_str());
  if (!isNamed) refuse(path, isWritten ? linkError : error, "a file that can be written");
}

std::string readSmallFile(const fs::path& path) {
  constexpr std::size_t kMost = 256;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) refuse(path, errno, "a file that can be read");
  struct stat status {};
  std::string text(kMost, '\0');
  const bool isRegular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const ssize_t size = isRegular ? ::read(file, text.data(), text.size()) : 0;
  ::close(file);
  if (!isRegular) refuse(path, "a path that is not a regular file", "a regular file");
  requireOwnStatus(path, status);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

}  // namespace

StoreBusy::StoreBusy(const fs::path& lockFile)
    : Failure({.file = lockFile.string(),
               .place = {},
               .found = "a lock that another program holds",
               .expected = "a free lock. Close that program, or choose another folder"}) {}

StoreLock::StoreLock(const fs::path& file, const Patience& patience) {
  constexpr std::chrono::milliseconds kPause(2);
  const auto begin = std::chrono::steady_clock::now();
  m_descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (m_descriptor < 0) refuse(file, errno, "a file that can be locked");
  while (!patience.stop.stop_requested()) {
    // A blocking flock() could not be stopped, so this code polls.
    m_isHeld = ::flock(m_descriptor, LOCK_EX | LOCK_NB) == 0;
    if (m_isHeld) return;
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) {
      if (std::chrono::steady_clock::now() - begin >= patience.most) return;
      std::this_thread::sleep_for(kPause);
      continue;
    }
    const int error = errno;
    ::close(m_descriptor);
    refuse(file, error, "a file that can be locked");
  }
}

StoreLock::~StoreLock() {
  ::close(m_descriptor);
}

StoreFolder::StoreFolder(fs::path path, const Patience& patience) : m_path(std::move(path)) {
  std::error_code error;
  m_path = fs::absolute(m_path, error);
  if (!m_path.has_filename()) m_path = m_path.parent_path();
  if (m_path.has_parent_path()) fs::create_directories(m_path.parent_path(), error);
  if (::mkdir(m_path.c_str(), kFolderMode) != 0 && errno != EEXIST)
    refuse(m_path, errno, "a folder that can be created");
  requireOwn(m_path);
  try {
    if (!isWhole()) prepare(patience);
  } catch (const fs::filesystem_error& failure) {
    refuse(m_path, failure.code().message(), "a folder that can be read and written");
  }
  readSecret();
}

bool StoreFolder::isThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "store", error);
}

void StoreFolder::requireOwn(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) refuse(path, errno, "a folder");
  if (!S_ISDIR(status.st_mode)) refuse(path, "a path that is not a folder", "a folder");
  requireOwnStatus(path, status);
}

bool StoreFolder::isWhole() const {
  const fs::path marker = m_path / "store";
  if (!fs::exists(marker) || !fs::exists(m_path / "secret") || !fs::exists(m_path / "CACHEDIR.TAG") ||
      !fs::exists(packs()))
    return false;
  requireOwn(packs());
  const bool hasParts = std::any_of(fs::directory_iterator(m_path), fs::directory_iterator(),
                                    [](const auto& entry) { return entry.path().extension() == ".part"; });
  return !hasParts && readSmallFile(marker) == kMarker;
}

void StoreFolder::prepare(const Patience& patience) {
  const fs::path marker = m_path / "store";
  if (!fs::exists(marker)) {
    // Another process may have started to make the store.
    for (const auto& entry : fs::directory_iterator(m_path)) {
      const std::string name = entry.path().filename().string();
      const bool isOurs = name == "lock" || name == "store" || name == "secret" || name == "packs" ||
                          name == "CACHEDIR.TAG" || name.ends_with(".part");
      if (!isOurs) refuse(m_path, "a folder with other files", "a span store or an empty folder");
    }
  }
  const StoreLock lock(lockFile(), patience);
  if (!lock.isHeld()) throw StoreBusy(lockFile());
  // These files are left over from a process that ended while it was making the store. No other process makes
  // the store while this process has the lock.
  for (const auto& entry : fs::directory_iterator(m_path)) {
    if (entry.path().extension() == ".part") ::unlink(entry.path().c_str());
  }
  std::array<std::uint8_t, 32> secret{};
  if (!fs::exists(m_path / "secret")) {
    if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
      refuse(m_path, errno, "random numbers of the system");
    makeFile(m_path / "secret", {reinterpret_cast<const char*>(secret.data()), secret.size()});
  }
  if (::mkdir(packs().c_str(), kFolderMode) != 0 && errno != EEXIST)
    refuse(packs(), errno, "a folder that can be created");
  requireOwn(packs());
  makeFile(m_path / "CACHEDIR.TAG", kCacheTag);
  makeFile(marker, kMarker);
  const std::string text = readSmallFile(marker);
  if (text != kMarker) refuse(marker, "a store of another version", "version 1. Choose a new folder");
}

void StoreFolder::readSecret() {
  const std::string text = readSmallFile(m_path / "secret");
  if (text.size() != m_secret.size())
    refuse(m_path / "secret", std::to_string(text.size()) + " bytes",
           std::to_string(m_secret.size()) + " bytes");
  for (std::size_t i = 0; i < m_secret.size(); ++i) m_secret[i] = static_cast<std::uint8_t>(text[i]);
}

}  // namespace spanscope::cache
