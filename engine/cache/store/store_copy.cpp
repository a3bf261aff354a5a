// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/store_copy.h"

#include "engine/base/error.h"
#include "engine/cache/store/disk_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::cache {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;

class Descriptor {
 public:
  explicit Descriptor(int number) : m_number(number) {}
  ~Descriptor() {
    if (m_number >= 0) ::close(m_number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return m_number; }
  /// Returns the number of the error; 0: none.
  int close() { return ::close(std::exchange(m_number, -1)) == 0 ? 0 : errno; }

 private:
  int m_number;
};

[[noreturn]] void refuseOutput(const fs::path& path, int error, const char* expected) {
  throw OutputFailure({.file = path.string(),
                       .place = {},
                       .found = std::generic_category().message(error),
                       .expected = expected});
}

fs::path partNameOf(const fs::path& folder) {
  constexpr std::size_t kLetters = 6;
  constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
  constexpr std::size_t kMostName = 180;  // bytes; names have at most 255
  std::string name = folder.filename().string().substr(0, kMostName) + '.';
  std::random_device random;
  std::uniform_int_distribution<std::size_t> letter(0, kAlphabet.size() - 1);
  for (std::size_t i = 0; i < kLetters; ++i) name += kAlphabet[letter(random)];
  return folder.parent_path() / (name + ".part");
}

/// A store while it is being copied. Unless it gets its final name, it is removed on destruction.
class Copy {
 public:
  /// `folder`: the final path, which messages contain too.
  Copy(fs::path folder, const StoreCopyRules& rules)
      : m_folder(std::move(folder)), m_part(partNameOf(m_folder)), m_rules(rules) {
    makeFolder({});
  }
  ~Copy() {
    if (m_isNamed) return;
    std::error_code error;
    fs::remove_all(m_part, error);
    forget();
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  /// `name` is relative to the store, also in the functions below.
  void makeFolder(const fs::path& name) {
    const fs::path path = name.empty() ? m_part : m_part / name;
    if (::mkdir(path.c_str(), kFolderMode) != 0)
      refuseOutput(shown(name), errno, "a folder that can be made");
    note(path);
  }

  /// False if there is no such file.
  bool add(const fs::path& source, const fs::path& name) {
    const Descriptor from(::open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (from.number() < 0 && errno == ENOENT) return false;
    if (from.number() < 0) refuseInput(source, errno);
    const fs::path path = m_part / name;
    note(path);
    Descriptor to(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
    constexpr const char* kWritable = "a file that can be written";
    if (to.number() < 0) refuseOutput(shown(name), errno, kWritable);
    std::vector<std::byte> buffer(std::size_t{1} << 20U);
    while (const std::size_t size = read(from, source, buffer)) {
      for (std::size_t done = 0; done < size;) {
        const ssize_t written = ::write(to.number(), buffer.data() + done, size - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) refuseOutput(shown(name), errno, kWritable);
        done += static_cast<std::size_t>(written);
      }
    }
    sync(to, shown(name));
    if (const int error = to.close(); error != 0) refuseOutput(shown(name), error, kWritable);
    return true;
  }

  /// Gives the copy its final name.
  void finish() {
    for (const fs::path& folder : {m_part / "packs", m_part}) syncFolder(folder);
    if (::rename(m_part.c_str(), m_folder.c_str()) != 0)
      refuseOutput(m_folder, errno, "a folder that can be made");
    m_isNamed = true;
    forget();
    syncFolder(m_folder.has_parent_path() ? m_folder.parent_path() : fs::path("."));
  }

 private:
  fs::path shown(const fs::path& name) const { return name.empty() ? m_folder : m_folder / name; }

  [[noreturn]] static void refuseInput(const fs::path& path, int error) {
    throw Failure({.file = path.string(),
                   .place = {},
                   .found = std::generic_category().message(error),
                   .expected = "a file that can be read"});
  }

  std::size_t read(const Descriptor& from, const fs::path& source, std::vector<std::byte>& buffer) const {
    for (;;) {
      if (m_rules.stop.stop_requested())
        throw Failure(
            {.file = source.string(), .place = {}, .found = "a request to stop", .expected = "none"});
      const ssize_t size = ::read(from.number(), buffer.data(), buffer.size());
      if (size >= 0) return static_cast<std::size_t>(size);
      if (errno != EINTR) refuseInput(source, errno);
    }
  }

  /// Some file systems do not support it and return EINVAL.
  static void sync(const Descriptor& file, const fs::path& name) {
    if (::fsync(file.number()) != 0 && errno != EINVAL)
      refuseOutput(name, errno, "a file that can be brought to the disk");
  }

  void syncFolder(const fs::path& folder) const {
    const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.number() >= 0) sync(opened, m_folder);
  }

  void note(const fs::path& path) {
    m_written.push_back(path);
    if (m_rules.unfinished != nullptr) m_rules.unfinished->add(path);
  }

  void forget() {
    if (m_rules.unfinished == nullptr) return;
    for (const fs::path& path : m_written) m_rules.unfinished->drop(path);
  }

  fs::path m_folder;
  fs::path m_part;
  const StoreCopyRules& m_rules;
  std::vector<fs::path> m_written;
  bool m_isNamed = false;
};

}  // namespace

std::size_t copyStore(DiskStore& store, const fs::path& folder, const StoreCopyRules& rules) {
  const fs::path target = folder.has_filename() ? folder : folder.parent_path();
  std::error_code error;
  if (fs::exists(fs::symlink_status(target, error))) {
    throw OutputFailure({.file = folder.string(),
                         .place = {},
                         .found = "something that is there already",
                         .expected = "a new folder"});
  }
  Copy copy(target, rules);
  copy.makeFolder("packs");
  const fs::path& source = store.folder().path();
  // The copy has the same secret, so its packs keep their names.
  for (const char* name : {"secret", "CACHEDIR.TAG", "store"}) copy.add(source / name, name);
  std::size_t copied = 0;
  for (const PackSummary& pack : store.verify()) {
    if (pack.fault != PackFault::None) continue;
    // Another program may have removed the pack meanwhile.
    if (copy.add(store.folder().packs() / pack.name, fs::path("packs") / pack.name)) ++copied;
  }
  copy.finish();
  return copied;
}

}  // namespace spanscope::cache
