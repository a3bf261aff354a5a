// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/output_file.h"

#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace spanscope {

void UnfinishedFiles::add(const std::filesystem::path& part) {
  const std::lock_guard lock(m_mutex);
  m_parts.push_back(part);
}

void UnfinishedFiles::drop(const std::filesystem::path& part) {
  const std::lock_guard lock(m_mutex);
  std::erase(m_parts, part);
}

void UnfinishedFiles::removeAll() noexcept {
  const std::lock_guard lock(m_mutex);
  for (auto part = m_parts.rbegin(); part != m_parts.rend(); ++part) std::remove(part->c_str());
  m_parts.clear();
}

namespace {

namespace fs = std::filesystem;

constexpr mode_t kPermissions = 0777;
constexpr const char* kWritable = "a file that can be written";

[[noreturn]] void refuse(const fs::path& path, std::string found, std::string expected) {
  throw OutputFailure(
      {.file = path.string(), .place = {}, .found = std::move(found), .expected = std::move(expected)});
}

[[noreturn]] void refuse(const fs::path& path, int error, std::string expected = kWritable) {
  refuse(path, systemReport(error), std::move(expected));
}

FileIdentity identityOf(const struct stat& found) {
  return {.device = found.st_dev, .number = found.st_ino};
}

/// Whether the file is the program's standard input, output or error.
bool isStandardStream(const FileIdentity& file) {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct stat found {};
    if (::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) && identityOf(found) == file) return true;
  }
  return false;
}

void refuseFileInUse(const fs::path& path, const FileIdentity& file, const OutputRules& rules) {
  const bool isInput = std::ranges::find(rules.inputs, file) != rules.inputs.end();
  if (isInput || isStandardStream(file))
    refuse(path, /*id:file-command-reads*/ "a file that this command already reads or writes",
           "another file");
}

/// Returns the final target of a path, which may not exist.
fs::path withoutLinks(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as many links as Linux follows
  fs::path target = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code error;
    const fs::path next = fs::read_symlink(target, error);
    if (error) return target;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  refuse(path, ELOOP);
}

/// Returns a name in the folder of `target` that identifies the writer. The name keeps the file type before
/// ".part".
fs::path newPartName(const fs::path& target) {
  constexpr std::size_t kMostStem = 180;  // bytes; a file name has at most 255 bytes
  constexpr std::size_t kMostEnding = 40;
  constexpr std::size_t kLetters = 6;
  constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string name = target.stem().string();
  std::string ending = target.extension().string();
  if (ending.size() > kMostEnding) ending.clear();
  name.resize(beginningOf(name, kMostStem).size());
  name += '.';
  std::random_device random;
  std::uniform_int_distribution<std::size_t> letter(0, kAlphabet.size() - 1);
  for (std::size_t i = 0; i < kLetters; ++i) name += kAlphabet[letter(random)];
  return target.parent_path() / (name + ending + ".part");
}

}  // namespace

struct OutputFile::Impl {
  Impl(fs::path given, const OutputRules& rules)
      : path(std::move(given)),
        unfinished(rules.unfinished),
        replacesNewer(rules.replacesNewer),
        keepsBroken(rules.keepsBroken) {
    struct stat found {};
    const bool exists = ::stat(path.c_str(), &found) == 0;
    if (!exists && errno != ENOENT) refuse(path, errno);
    if (exists && S_ISDIR(found.st_mode)) refuse(path, "a folder", kWritable);
    if (exists && !S_ISCHR(found.st_mode)) refuseFileInUse(path, identityOf(found), rules);
    target = withoutLinks(path);
    // The link of a descriptor (/dev/fd/3) may have no valid target.
    if (exists && (!S_ISREG(found.st_mode) || spanscope::identityOf(target) != identityOf(found))) {
      openStream(found, rules.stop);
    } else {
      openPart(exists ? &found : nullptr);
    }
  }

  ~Impl() { discard(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Opens an existing file that is written in place.
  void openStream(const struct stat& found, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kPause(20);
    part = path;
    // A pipe without a reader would block the program, even after a stop request.
    const int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK | (S_ISREG(found.st_mode) ? O_TRUNC : 0);
    while ((descriptor = ::open(path.c_str(), flags)) < 0) {
      const int error = errno;
      if (error == EINTR) continue;
      if (error != ENXIO || !S_ISFIFO(found.st_mode)) refuse(path, error);
      if (!stop.stop_possible() || stop.stop_requested())
        refuse(path, /*id:pipe-nobody-reads*/ "a pipe with no reader", "a pipe with a reader");
      std::this_thread::sleep_for(kPause);
    }
    struct stat opened {};
    const bool isSame = ::fstat(descriptor, &opened) == 0 && identityOf(opened) == identityOf(found);
    if (!isSame || ::fcntl(descriptor, F_SETFL, O_WRONLY) != 0) {
      const int error = errno;
      close();
      if (!isSame) refuse(path, "a file that was replaced while it was opened", kWritable);
      refuse(path, error);
    }
  }

  /// Opens a new file with a temporary name. commit() gives the file its final name.
  void openPart(const struct stat* old) {
    constexpr int kMostTries = 100;
    constexpr mode_t kNew = 0666;
    constexpr mode_t kPrivate = 0600;  // used until the file gets the permissions of the old file
    if (!target.has_filename()) refuse(path, ENOENT);
    if (old != nullptr && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) refuse(path, errno);
    for (int i = 0; descriptor < 0; ++i) {
      part = newPartName(target);
      descriptor =
          ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old != nullptr ? kPrivate : kNew);
      if (descriptor < 0 && (errno != EEXIST || i == kMostTries)) refuse(path, errno);
    }
    isPart = true;
    if (old != nullptr) replaced = *old;
    if (unfinished != nullptr) unfinished->add(part);
    if (old == nullptr) return;
    // A user without permission to change the owner stays the owner. If the old group cannot be kept, the new
    // group gets no permissions.
    const bool hasGroup = ::fchown(descriptor, old->st_uid, old->st_gid) == 0 ||
                          ::fchown(descriptor, ::geteuid(), old->st_gid) == 0;
    // Errors are ignored, because some file systems have no permissions.
    ::fchmod(descriptor, old->st_mode & (hasGroup ? kPermissions : kPermissions & ~S_IRWXG));
  }

  void write(std::span<const std::uint8_t> bytes) {
    if (descriptor < 0) refuse(path, "a file that an earlier error closed", kWritable);
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) giveUp(errno, kWritable);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void commit() {
    if (descriptor < 0) refuse(path, "a file that an earlier error closed", kWritable);
    // Some file systems do not support fsync() and return EINVAL.
    if (isPart && ::fsync(descriptor) != 0 && errno != EINVAL)
      giveUp(errno, "a file that can be synced to the disk");
    if (const int error = close(); error != 0) giveUp(error, kWritable);
    if (!isPart) return;
    const bool mayRename = replacesNewer || isReplacedThere();
    if (!mayRename && ::link(part.c_str(), target.c_str()) == 0) {
      ::unlink(part.c_str());
    } else if (!mayRename && isThere()) {
      giveUp(EEXIST, "an unused name");
    } else if (::rename(part.c_str(), target.c_str()) != 0) {
      giveUp(errno, "a file that can be replaced");
    }
    forget();
  }

  void discard() noexcept {
    close();
    if (!isPart) return;
    ::unlink(part.c_str());
    forget();
  }

  fs::path path;    ///< the path from the caller
  fs::path target;  ///< the final path of a regular file
  fs::path part;

 private:
  /// Whether the final name is taken. Used on file systems without links.
  bool isThere() const {
    struct stat found {};
    return ::lstat(target.c_str(), &found) == 0;
  }

  /// Whether the original file still has the name and is unchanged.
  bool isReplacedThere() const {
    struct stat found {};
    return replaced && ::lstat(target.c_str(), &found) == 0 && identityOf(found) == identityOf(*replaced) &&
           found.st_mtim.tv_sec == replaced->st_mtim.tv_sec &&
           found.st_mtim.tv_nsec == replaced->st_mtim.tv_nsec;
  }

  [[noreturn]] void giveUp(int error, const char* expected) {
    if (keepsBroken) {
      close();
      forget();
    }
    discard();
    refuse(path, error, expected);
  }

  /// Returns the error number, or 0.
  int close() noexcept {
    const int closed = std::exchange(descriptor, -1);
    return closed >= 0 && ::close(closed) != 0 && errno != EINTR ? errno : 0;
  }

  void forget() noexcept {
    isPart = false;
    if (unfinished != nullptr) unfinished->drop(part);
  }

  UnfinishedFiles* unfinished;
  bool replacesNewer;
  bool keepsBroken;
  std::optional<struct stat> replaced;  ///< the original file with the name, if any
  int descriptor = -1;
  bool isPart = false;  ///< `part` exists and does not have its final name yet
};

OutputFile::OutputFile(fs::path path, const OutputRules& rules)
    : m_impl(std::make_unique<Impl>(std::move(path), rules)) {}

OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;

void OutputFile::write(std::span<const std::uint8_t> bytes) {
  m_impl->write(bytes);
}

void OutputFile::commit() {
  m_impl->commit();
}

void OutputFile::discard() noexcept {
  m_impl->discard();
}

const fs::path& OutputFile::path() const {
  return m_impl->path;
}

const fs::path& OutputFile::partPath() const {
  return m_impl->part;
}

std::optional<Error> writeFile(const fs::path& path, std::string_view bytes, const OutputRules& rules) {
  try {
    OutputFile file(path, rules);
    file.write({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    file.commit();
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

}  // namespace spanscope
