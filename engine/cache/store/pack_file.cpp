// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/pack_file.h"

#include "engine/base/clock.h"
#include "engine/base/counted.h"
#include "engine/base/problem_sentence.h"
#include "engine/cache/kv_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <string_view>
#include <system_error>

namespace spanscope::cache {

namespace {

constexpr std::string_view kMagic = "SPANPACK";
constexpr std::size_t kFixedBytes = 64;
constexpr std::size_t kEntryBytes = 104;
constexpr std::size_t kChecksumBytes = 16;
constexpr std::uint64_t kAlignment = 64;
constexpr std::uint32_t kMostTextBytes = 1 << 16;
constexpr const char* kCut = "a file that got shorter while it was read";

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

class Writer {
 public:
  template <class T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)));
  }
  void name(const ContentName& name) { bytes.insert(bytes.end(), name.bytes.begin(), name.bytes.end()); }
  void text(std::string_view text) { bytes.insert(bytes.end(), text.begin(), text.end()); }

  std::vector<std::uint8_t> bytes;
};

/// Reads values. The caller has checked that the bytes are there.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : m_bytes(bytes) {}

  template <class T>
  T number() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value |= std::to_integer<std::uint64_t>(m_bytes[m_at + i]) << (8 * i);
    m_at += sizeof(T);
    return static_cast<T>(value);
  }
  ContentName name() {
    ContentName name;
    std::memcpy(name.bytes.data(), m_bytes.data() + m_at, name.bytes.size());
    m_at += name.bytes.size();
    return name;
  }
  std::string text(std::size_t size) {
    std::string text(size, ' ');
    if (size > 0) std::memcpy(text.data(), m_bytes.data() + m_at, size);
    m_at += size;
    return text;
  }
  bool isAt(std::string_view expected) { return text(expected.size()) == expected; }

 private:
  std::span<const std::byte> m_bytes;
  std::size_t m_at = 0;
};

std::span<const std::uint8_t> unsignedBytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

std::string shortened(std::string_view text) {
  return std::string(text.substr(0, kMostTextBytes));
}

/// Returns the fault of the bytes. If the bytes are intact, returns an empty text and sets `head`.
std::string decode(std::span<const std::byte> bytes, PackHead& head, bool& isOtherVersion) {
  if (bytes.size() < kFixedBytes) return "a file of " + std::to_string(bytes.size()) + " bytes";
  Reader reader(bytes);
  if (!reader.isAt(kMagic)) return "a file that is not a pack";
  const auto version = reader.number<std::uint32_t>();
  isOtherVersion = version != kPackVersion;
  if (isOtherVersion) return "version " + std::to_string(version);
  const auto entries = reader.number<std::uint32_t>();
  const auto fileBytes = reader.number<std::uint64_t>();
  head.storedAt = reader.number<std::int64_t>();
  head.slotBytes = reader.number<std::uint32_t>();
  const auto fingerprintBytes = reader.number<std::uint32_t>();
  const auto modelBytes = reader.number<std::uint32_t>();
  const auto textBytes = reader.number<std::uint32_t>();
  if (fileBytes != bytes.size())
    return std::to_string(bytes.size()) + " bytes instead of " + std::to_string(fileBytes);
  const std::uint64_t headBytes = kFixedBytes + std::uint64_t{entries} * kEntryBytes +
                                  std::uint64_t{fingerprintBytes} + modelBytes + textBytes;
  if (fingerprintBytes > kMostTextBytes || modelBytes > kMostTextBytes || textBytes > kMostTextBytes ||
      headBytes + kChecksumBytes > bytes.size())
    return "a header that is longer than the file";
  Reader checksum(bytes.subspan(static_cast<std::size_t>(headBytes)));
  const auto high = checksum.number<std::uint64_t>();
  const auto low = checksum.number<std::uint64_t>();
  if (hash128(unsignedBytes(bytes.first(static_cast<std::size_t>(headBytes)))) != Hash128{high, low})
    return "a header with a wrong checksum";
  Reader table(bytes.subspan(kFixedBytes));
  head.entries.resize(entries);
  for (PackEntry& entry : head.entries) {
    entry.name = table.name();
    entry.parent = table.name();
    entry.offset = table.number<std::uint64_t>();
    entry.tokens = table.number<std::int32_t>();
    table.number<std::uint32_t>();
    entry.base = table.number<std::int64_t>();
    entry.checksum.high = table.number<std::uint64_t>();
    entry.checksum.low = table.number<std::uint64_t>();
    const bool isSound = entry.tokens > 0 && entry.tokens <= kMaxBlockSize &&
                         entry.offset % kAlignment == 0 && entry.offset <= bytes.size() &&
                         head.bytesOf(entry) <= bytes.size() - entry.offset;
    if (!isSound) return "a block outside of the file";
  }
  head.fingerprint = table.text(fingerprintBytes);
  head.model = table.text(modelBytes);
  head.text = table.text(textBytes);
  return {};
}

}  // namespace

std::uint64_t PackHead::tokens() const {
  std::uint64_t sum = 0;
  for (const PackEntry& entry : entries) sum += static_cast<std::uint64_t>(entry.tokens);
  return sum;
}

std::uint64_t packBytesOfBlock(std::size_t bytes) {
  return aligned(bytes) + kEntryBytes;
}

std::uint64_t packBytes(const PackHead& head) {
  const PackEntry& last = head.entries.back();
  return last.offset + head.bytesOf(last);
}

std::vector<std::uint8_t> encodePackHead(PackHead& head) {
  const std::string fingerprint = shortened(head.fingerprint);
  const std::string model = shortened(head.model);
  const std::string text = shortened(head.text);
  const std::size_t size =
      kFixedBytes + head.entries.size() * kEntryBytes + fingerprint.size() + model.size() + text.size();
  std::uint64_t at = aligned(size + kChecksumBytes);
  const std::uint64_t first = at;
  for (PackEntry& entry : head.entries) {
    entry.offset = at;
    at = aligned(at + head.bytesOf(entry));
  }
  Writer writer;
  writer.bytes.reserve(static_cast<std::size_t>(first));
  writer.text(kMagic);
  writer.number(kPackVersion);
  writer.number(static_cast<std::uint32_t>(head.entries.size()));
  writer.number(packBytes(head));
  writer.number(head.storedAt);
  writer.number(head.slotBytes);
  writer.number(static_cast<std::uint32_t>(fingerprint.size()));
  writer.number(static_cast<std::uint32_t>(model.size()));
  writer.number(static_cast<std::uint32_t>(text.size()));
  writer.bytes.resize(kFixedBytes);
  for (const PackEntry& entry : head.entries) {
    writer.name(entry.name);
    writer.name(entry.parent);
    writer.number(entry.offset);
    writer.number(entry.tokens);
    writer.number(std::uint32_t{0});
    writer.number(entry.base);
    writer.number(entry.checksum.high);
    writer.number(entry.checksum.low);
  }
  writer.text(fingerprint);
  writer.text(model);
  writer.text(text);
  const Hash128 checksum = hash128(writer.bytes);
  writer.number(checksum.high);
  writer.number(checksum.low);
  writer.bytes.resize(static_cast<std::size_t>(first));
  return std::move(writer.bytes);
}

std::shared_ptr<const Pack> Pack::open(const std::filesystem::path& path, PackFault& fault,
                                       std::string& what) {
  constexpr mode_t kOthers = 077;
  const auto refuse = [&](PackFault found, std::string why) {
    fault = found;
    what = std::move(why);
    return nullptr;
  };
  const auto systemError = [&] {
    const int error = errno;
    return refuse(error == ENOENT ? PackFault::Gone : PackFault::Unreadable,
                  std::generic_category().message(error));
  };
  fault = PackFault::None;
  const std::optional<ReadableFile> file = ReadableFile::open(path, LinkRule::Refuse);
  if (!file) return systemError();
  const struct stat& status = file->status();
  if (!file->isRegular() || status.st_uid != ::geteuid() || (status.st_mode & kOthers) != 0)
    return refuse(PackFault::Unreadable, "a file that other users can access");
  std::optional<MappedBytes> bytes = file->map();
  if (!bytes) return systemError();
  if (bytes->get().empty()) return refuse(PackFault::Damaged, "an empty file");
  const std::shared_ptr<Pack> pack(new Pack(path, std::move(*bytes)));
  bool isOtherVersion = false;
  std::string wrong = decode(pack->m_bytes.get(), pack->m_head, isOtherVersion);
  if (pack->isCut()) return refuse(PackFault::Damaged, kCut);
  if (!wrong.empty())
    return refuse(isOtherVersion ? PackFault::OtherVersion : PackFault::Damaged, std::move(wrong));
  return pack;
}

void Pack::requireWhole() const {
  if (!isCut()) return;
  throw Failure({.file = m_path.string(),
                 .place = {},
                 .found = kCut,
                 .expected = "all " + counted(fileBytes(), "byte") + " of the opened file"});
}

bool Pack::isIntact(const PackEntry& entry) const {
  return hash128(unsignedBytes(blockBytes(entry))) == entry.checksum;
}

namespace fs = std::filesystem;

namespace {

constexpr const char* kPackEnding = ".pack";
constexpr const char* kPartEnding = ".part";

/// A file that is being written and has a temporary name. The destructor removes a file that did not get its
/// final name.
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

  /// Returns the error number, or 0. The functions below do the same.
  int create() {
    constexpr mode_t kOwner = 0600;
    m_descriptor = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwner);
    if (m_descriptor < 0) return errno;
    // The lock shows that a process is writing the file. Processes that search for unfinished files keep the
    // lock only for a moment.
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
  /// Sets the final size of the file. The size may be wrong before if no space was reserved.
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
  /// Syncs the bytes written so far to the disk, in small steps. One long wait for all bytes could not be
  /// stopped. finish() reports errors.
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

/// Whether no process is writing the unfinished file any more.
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
  head.storedAt = unixMilliseconds();
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
                       .usedAt = fileTime(status.st_mtim),
                       .isPart = ending == kPartEnding});
  }
  return entries;
}

/// The caller must have the folder's lock, also for makeRoom(). A new file exists before its writer locks the
/// file.
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
  std::ranges::sort(entries, [](const FolderEntry& a, const FolderEntry& b) {
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
  // Without a file to remove, the function does not wait for a writer.
  if (std::ranges::none_of(
          entries, [&](const FolderEntry& entry) { return entry.isPart && isLeftOver(pathOf(entry.name)); }))
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
  const auto report = [&](std::string found, std::string expected) {
    written.problems.push_back({.file = m_folder.path().string(),
                                .place = {},
                                .found = std::move(found),
                                .expected = std::move(expected)});
  };
  if (size > m_limit) {
    report("blocks of " + std::to_string(size) + " bytes",
           "at most " + std::to_string(m_limit) + ", the limit of the store");
    return written;
  }
  const std::string name = newName() + kPackEnding;
  Part part(pathOf("." + name + kPartEnding));
  const auto attempt = [&](WriteStep what, const auto& work) {
    if (giveUp.stop_requested()) return false;
    int error = step(what);
    if (error == 0) error = work();
    if (error == 0) return true;
    report(systemReport(error), "space for a new pack");
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
  // The blocks are written first, because a header without blocks would be useless.
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
    // Without the lock, a process that counts the bytes of the folder now might find neither of the two
    // names.
    const StoreLock lock(m_folder.lockFile(), {.stop = giveUp, .most = lockWait});
    if (!isHeld(lock) || !attempt(WriteStep::Rename, [&] { return part.name(pathOf(name)); })) return written;
  } catch (const Failure& failure) {
    written.problems.push_back(failure.error());
    return written;
  }
  // The file is complete, but only this sync ensures that its name survives a power failure.
  attempt(WriteStep::SyncFolder, [&] { return syncFolder(m_folder.packs()); });
  written.name = name;
  return written;
}

}  // namespace spanscope::cache
