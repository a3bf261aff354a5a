// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/pack_writer.h"

#include "engine/cache/store/first_words.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

namespace spanscope::cache {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPackEnding = ".pack";
constexpr const char* kPartEnding = ".part";

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::int64_t milliseconds(const timespec& time) {
  constexpr std::int64_t kThousand = 1'000;
  constexpr std::int64_t kMillion = 1'000'000;
  return std::int64_t{time.tv_sec} * kThousand + time.tv_nsec / kMillion;
}

/// A file that is being written and does not have its final name yet. Unless it gets that name, it is removed
/// on destruction.
class Part {
 public:
  explicit Part(fs::path path) : m_path(std::move(path)) {}
  ~Part() {
    if (m_descriptor < 0) return;
    if (!m_isNamed) ::unlink(m_path.c_str());
    ::close(m_descriptor);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  /// Returns the number of the error; 0: none. The functions below do the same.
  int create() {
    constexpr mode_t kOwner = 0600;
    m_descriptor = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwner);
    if (m_descriptor < 0) return errno;
    // The lock tells those who look for leftovers that somebody is writing the file. They hold the lock only
    // for a moment.
    while (::flock(m_descriptor, LOCK_EX) != 0) {
      if (errno != EINTR) return errno;
    }
    return 0;
  }
  int reserve(std::uint64_t bytes) const {
    const int error = ::posix_fallocate(m_descriptor, 0, static_cast<off_t>(bytes));
    return error == EINVAL || error == EOPNOTSUPP ? 0 : error;
  }
  int write(const void* bytes, std::size_t size, std::uint64_t offset) {
    const auto* from = static_cast<const char*>(bytes);
    while (size > 0) {
      const ssize_t written = ::pwrite(m_descriptor, from, size, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return written < 0 ? errno : ENOSPC;
      from += written;
      size -= static_cast<std::size_t>(written);
      offset += static_cast<std::uint64_t>(written);
    }
    settle(offset);
    return 0;
  }
  /// Sets the size of the file, which may differ if nothing was reserved.
  int finish(std::uint64_t bytes) const {
    if (::ftruncate(m_descriptor, static_cast<off_t>(bytes)) != 0) return errno;
    return ::fsync(m_descriptor) == 0 || errno == EINVAL ? 0 : errno;
  }
  int name(const fs::path& target) {
    if (::rename(m_path.c_str(), target.c_str()) != 0) return errno;
    m_isNamed = true;
    return 0;
  }

 private:
  /// Brings what was written so far to the disk, bit by bit: nothing can end a wait for all of it at once. An
  /// error is reported when the file is finished.
  void settle(std::uint64_t end) {
    constexpr std::uint64_t kAtOnce = 1 << 20;
    if (end < m_settled + kAtOnce) return;
    ::sync_file_range(m_descriptor, static_cast<off_t>(m_settled), static_cast<off_t>(end - m_settled),
                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    m_settled = end;
  }

  fs::path m_path;
  int m_descriptor = -1;
  std::uint64_t m_settled = 0;
  bool m_isNamed = false;
};

int syncFolder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  return error;
}

/// Whether nobody is writing the part any more.
bool isLeftOver(const fs::path& part) {
  const int descriptor = ::open(part.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool isFree = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return isFree;
}

std::string newName() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr int kLetters = 16;
  std::random_device random;
  std::uniform_int_distribution<std::size_t> digit(0, kDigits.size() - 1);
  std::string name;
  for (int i = 0; i < kLetters; ++i) name += kDigits[digit(random)];
  return name;
}

std::string textOf(std::span<const BlockToKeep> blocks) {
  std::vector<WordedBlock> worded;
  worded.reserve(blocks.size());
  for (const BlockToKeep& block : blocks) worded.push_back({.facts = &block.facts, .text = block.text});
  return firstWords(worded);
}

PackHead headOf(const PackContent& content) {
  PackHead head;
  head.storedAt = now();
  head.slotBytes = content.slotBytes;
  head.fingerprint = content.fingerprint;
  head.model = content.model;
  head.text = textOf(content.blocks);
  head.entries.reserve(content.blocks.size());
  for (const BlockToKeep& block : content.blocks) {
    head.entries.push_back({.name = block.facts.name,
                            .parent = block.facts.parent,
                            .tokens = block.facts.tokens,
                            .base = block.facts.base,
                            .checksum = hash128({reinterpret_cast<const std::uint8_t*>(block.bytes->data()),
                                                 block.bytes->size()})});
  }
  return head;
}

}  // namespace

std::vector<FolderEntry> entriesOf(const fs::path& packs) {
  std::vector<FolderEntry> entries;
  std::error_code error;
  fs::directory_iterator entry(packs, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string ending = entry->path().extension().string();
    struct stat status {};
    if ((ending != kPackEnding && ending != kPartEnding) || ::lstat(entry->path().c_str(), &status) != 0)
      continue;
    entries.push_back({.name = entry->path().filename().string(),
                       .bytes = static_cast<std::uint64_t>(status.st_size),
                       .usedAt = milliseconds(status.st_mtim),
                       .isPart = ending == kPartEnding});
  }
  return entries;
}

/// This and makeRoom() need the lock: a new part exists before its writer locks it.
std::vector<FolderEntry> PackWriter::withoutLeftOvers() const {
  std::vector<FolderEntry> entries = entriesOf(m_folder.packs());
  std::erase_if(entries, [&](const FolderEntry& entry) {
    if (!entry.isPart || !isLeftOver(pathOf(entry.name))) return false;
    step(WriteStep::Remove);
    ::unlink(pathOf(entry.name).c_str());
    return true;
  });
  return entries;
}

void PackWriter::makeRoom(std::uint64_t bytes, std::vector<std::string>& removed) const {
  std::vector<FolderEntry> entries = withoutLeftOvers();
  std::uint64_t used = 0;
  for (const FolderEntry& entry : entries) used += entry.bytes;
  std::sort(entries.begin(), entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
    return a.usedAt != b.usedAt ? a.usedAt < b.usedAt : a.name < b.name;
  });
  for (const FolderEntry& entry : entries) {
    if (used + bytes <= m_limit) return;
    if (entry.isPart) continue;
    step(WriteStep::Remove);
    if (::unlink(pathOf(entry.name).c_str()) != 0 && errno != ENOENT) continue;
    used -= entry.bytes;
    removed.push_back(entry.name);
  }
}

void PackWriter::removeLeftOvers() const {
  const std::vector<FolderEntry> entries = entriesOf(m_folder.packs());
  // If there is nothing to remove, this does not wait for a writer.
  if (std::none_of(entries.begin(), entries.end(),
                   [&](const FolderEntry& entry) { return entry.isPart && isLeftOver(pathOf(entry.name)); }))
    return;
  const StoreLock lock(m_folder.lockFile(), {.most = std::chrono::milliseconds(0)});
  if (lock.isHeld()) withoutLeftOvers();
}

WrittenPack PackWriter::write(const PackContent& content, const std::stop_token& giveUp,
                              std::chrono::milliseconds lockWait) const {
  WrittenPack written;
  PackHead head = headOf(content);
  const std::vector<std::uint8_t> headBytes = encodePackHead(head);
  const std::uint64_t size = packBytes(head);
  const auto tell = [&](std::string found, std::string expected) {
    written.problems.push_back({.file = m_folder.path().string(),
                                .place = {},
                                .found = std::move(found),
                                .expected = std::move(expected)});
  };
  if (size > m_limit) {
    tell("blocks of " + std::to_string(size) + " bytes",
         "at most " + std::to_string(m_limit) + ", the bound of the store");
    return written;
  }
  const std::string name = newName() + kPackEnding;
  Part part(pathOf("." + name + kPartEnding));
  const auto attempt = [&](WriteStep what, const auto& work) {
    if (giveUp.stop_requested()) return false;
    int error = step(what);
    if (error == 0) error = work();
    if (error == 0) return true;
    tell(std::generic_category().message(error), "room for a pack that can be written");
    return false;
  };
  const auto isHeld = [&](const StoreLock& lock) {
    if (lock.isHeld() || giveUp.stop_requested()) return lock.isHeld();
    written.isBusy = true;
    written.problems.push_back(StoreBusy(m_folder.lockFile()).error());
    return false;
  };
  try {
    const StoreLock lock(m_folder.lockFile(), {.stop = giveUp, .most = lockWait});
    if (!isHeld(lock)) return written;
    makeRoom(size, written.removed);
    if (!attempt(WriteStep::Create, [&] { return part.create(); }) ||
        !attempt(WriteStep::Reserve, [&] { return part.reserve(size); }))
      return written;
  } catch (const Failure& failure) {
    written.problems.push_back(failure.error());
    return written;
  }
  // Blocks come first: a head without its blocks would be useless.
  for (std::size_t i = 0; i < content.blocks.size(); ++i) {
    const std::vector<std::byte>& bytes = *content.blocks[i].bytes;
    if (!attempt(WriteStep::Write,
                 [&] { return part.write(bytes.data(), bytes.size(), head.entries[i].offset); }))
      return written;
  }
  if (!attempt(WriteStep::Write, [&] { return part.write(headBytes.data(), headBytes.size(), 0); }) ||
      !attempt(WriteStep::Sync, [&] { return part.finish(size); }))
    return written;
  try {
    // Without the lock, a process that counts the bytes of the folder now might see neither of the two names.
    const StoreLock lock(m_folder.lockFile(), {.stop = giveUp, .most = lockWait});
    if (!isHeld(lock) || !attempt(WriteStep::Rename, [&] { return part.name(pathOf(name)); })) return written;
  } catch (const Failure& failure) {
    written.problems.push_back(failure.error());
    return written;
  }
  // The file is there and whole. Only this makes sure that its name survives a power cut.
  attempt(WriteStep::SyncFolder, [&] { return syncFolder(m_folder.packs()); });
  written.name = name;
  return written;
}

}  // namespace spanscope::cache
