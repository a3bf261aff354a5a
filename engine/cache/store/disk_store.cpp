// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/disk_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <random>
#include <set>
#include <system_error>
#include <utility>

namespace spanscope::cache {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPackEnding = ".pack";
constexpr const char* kPartEnding = ".part";
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kThousand = 1'000;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::int64_t milliseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * kThousand + time.tv_nsec / kMillion;
}

/// A file that is written and not yet there under its name. Goes with this unless it was named.
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

  /// The number of the error, 0: none; so do the others.
  int create() {
    constexpr mode_t kOwner = 0600;
    m_descriptor = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwner);
    if (m_descriptor < 0) return errno;
    // Says to those who look for leftovers that somebody is writing it.
    return ::flock(m_descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  }
  int reserve(std::uint64_t bytes) const {
    const int error = ::posix_fallocate(m_descriptor, 0, static_cast<off_t>(bytes));
    return error == EINVAL || error == EOPNOTSUPP ? 0 : error;
  }
  int write(const void* bytes, std::size_t size, std::uint64_t offset) const {
    const auto* from = static_cast<const char*>(bytes);
    while (size > 0) {
      const ssize_t written = ::pwrite(m_descriptor, from, size, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return written < 0 ? errno : ENOSPC;
      from += written;
      size -= static_cast<std::size_t>(written);
      offset += static_cast<std::uint64_t>(written);
    }
    return 0;
  }
  /// Cuts or lengthens what was not reserved to its size.
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
  fs::path m_path;
  int m_descriptor = -1;
  bool m_isNamed = false;
};

int syncFolder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  return error;
}

/// Whether nobody writes the part any more.
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

std::string kindOf(PackFault fault) {
  switch (fault) {
    case PackFault::None:
    case PackFault::Gone:
      break;
    case PackFault::Unreadable:
      return "a file that this user alone can read";
    case PackFault::OtherVersion:
      return "version " + std::to_string(kPackVersion);
    case PackFault::Damaged:
      return "a pack as it was written; it was removed";
  }
  return "a pack";
}

}  // namespace

/// A file in the folder of packs.
struct DiskStore::FolderEntry {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t usedAt = 0;
  bool isPart = false;
};

DiskStore::DiskStore(DiskStoreConfig config) : m_config(std::move(config)), m_folder(m_config.folder) {
  refresh();
}

DiskStore::~DiskStore() {
  tellUses();
}

void DiskStore::tell(const fs::path& path, std::string found, std::string expected) {
  m_problems.push_back(
      {.file = path.string(), .place = {}, .found = std::move(found), .expected = std::move(expected)});
}

std::vector<Error> DiskStore::takeProblems() {
  return std::exchange(m_problems, {});
}

std::vector<DiskStore::FolderEntry> DiskStore::scan() const {
  std::vector<FolderEntry> entries;
  std::error_code error;
  fs::directory_iterator entry(m_folder.packs(), error);
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

void DiskStore::refresh() {
  // A folder that changed within a tick of the clock may change once more under the same time.
  constexpr std::int64_t kTick = 50;
  struct stat status {};
  if (::stat(m_folder.packs().c_str(), &status) != 0) return;
  const std::int64_t changed = milliseconds(status.st_mtim);
  if (changed == m_folderTime) return;
  m_folderTime = now() - changed > kTick ? changed : -1;
  const std::vector<FolderEntry> entries = scan();
  std::set<std::string> there;
  for (const FolderEntry& entry : entries) {
    if (!entry.isPart) there.insert(entry.name);
  }
  std::vector<std::string> gone;
  for (const auto& [name, pack] : m_packs) {
    if (!there.contains(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) forget(name);
  for (const std::string& name : there) {
    if (!m_packs.contains(name)) add(name);
  }
}

void DiskStore::add(const std::string& name) {
  PackFault fault = PackFault::None;
  std::string what;
  const std::shared_ptr<const Pack> pack = Pack::open(pathOf(name), fault, what);
  if (fault == PackFault::Damaged) {
    remove(name, what);
  } else if (pack != nullptr) {
    const std::vector<PackEntry>& entries = pack->head().entries;
    for (std::size_t i = 0; i < entries.size(); ++i) m_index.try_emplace(entries[i].name, Place{name, i});
    m_packs.emplace(name,
                    KnownPack{.head = pack->head(), .bytes = pack->fileBytes(), .mapped = {}, .usedAt = 0});
  }
}

/// Mapped packs are kept for a while: the blocks of a prompt mostly lie in few of them.
std::shared_ptr<const Pack> DiskStore::map(const std::string& name, KnownPack& known) {
  constexpr std::size_t kMostMapped = 32;
  if (std::shared_ptr<const Pack> pack = known.mapped.lock()) return pack;
  PackFault fault = PackFault::None;
  std::string what;
  std::shared_ptr<const Pack> pack = Pack::open(pathOf(name), fault, what);
  if (pack == nullptr) {
    if (fault == PackFault::Damaged) {
      remove(name, what);
    } else {
      if (fault != PackFault::Gone) tell(pathOf(name), what, kindOf(fault));
      forget(name);
    }
    return nullptr;
  }
  known.mapped = pack;
  m_lastMapped.push_back(pack);
  if (m_lastMapped.size() > kMostMapped) m_lastMapped.pop_front();
  return pack;
}

/// Where another pack has the same contents, as when two processes computed them at once, they are not found
/// there before the store is opened anew.
void DiskStore::forget(const std::string& name) {
  const auto known = m_packs.find(name);
  if (known == m_packs.end()) return;
  for (const PackEntry& entry : known->second.head.entries) {
    const auto place = m_index.find(entry.name);
    if (place != m_index.end() && place->second.pack == name) m_index.erase(place);
  }
  m_packs.erase(known);
}

void DiskStore::remove(const std::string& name, const std::string& why) {
  tell(pathOf(name), why, kindOf(PackFault::Damaged));
  ::unlink(pathOf(name).c_str());
  forget(name);
}

std::optional<DiskStore::Found> DiskStore::find(const ContentName& name) const {
  const auto place = m_index.find(name);
  if (place == m_index.end()) return std::nullopt;
  const PackHead& head = m_packs.at(place->second.pack).head;
  const PackEntry& entry = head.entries[place->second.entry];
  return Found{.tokens = entry.tokens, .base = entry.base, .bytes = head.bytesOf(entry)};
}

std::optional<StoredBytes> DiskStore::fetch(const ContentName& name, const ContentName& parent,
                                            std::int32_t tokens, std::uint32_t slotBytes) {
  const auto place = m_index.find(name);
  if (place == m_index.end()) return std::nullopt;
  const auto [file, index] = place->second;
  KnownPack& known = m_packs.at(file);
  const std::shared_ptr<const Pack> pack = map(file, known);
  if (pack == nullptr) return std::nullopt;
  if (index >= pack->head().entries.size()) {
    remove(file, "fewer blocks than before");
    return std::nullopt;
  }
  const PackEntry& entry = pack->head().entries[index];
  if (entry.name != name || entry.parent != parent || entry.tokens != tokens ||
      pack->head().slotBytes != slotBytes) {
    remove(file, "a block that is not what its name says");
    return std::nullopt;
  }
  if (!pack->isIntact(entry)) {
    remove(file, "a block with a wrong checksum");
    return std::nullopt;
  }
  if (pack->isCut()) {
    remove(file, "a file that was cut while it was read");
    return std::nullopt;
  }
  known.usedAt = now();
  return StoredBytes{.facts = {.name = name, .parent = parent, .tokens = tokens, .base = entry.base},
                     .tier = trace::StoreTier::Disk,
                     .bytes = pack->blockBytes(entry),
                     .holder = pack,
                     .pack = pack.get()};
}

/// The file's time of change is that of its last use, for all processes; its content never changes.
void DiskStore::tellUses() {
  for (auto& [name, known] : m_packs) {
    if (known.usedAt == 0) continue;
    const timespec time{known.usedAt / kThousand, known.usedAt % kThousand * kMillion};
    const timespec times[2] = {time, time};
    ::utimensat(AT_FDCWD, pathOf(name).c_str(), times, AT_SYMLINK_NOFOLLOW);
    known.usedAt = 0;
  }
}

/// Only with the lock.
void DiskStore::makeRoom(std::uint64_t bytes) {
  std::vector<FolderEntry> entries = scan();
  std::erase_if(entries, [&](const FolderEntry& entry) {
    if (!entry.isPart || !isLeftOver(pathOf(entry.name))) return false;
    step(WriteStep::Remove);
    ::unlink(pathOf(entry.name).c_str());
    return true;
  });
  std::uint64_t used = 0;
  for (const FolderEntry& entry : entries) used += entry.bytes;
  std::sort(entries.begin(), entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
    return a.usedAt != b.usedAt ? a.usedAt < b.usedAt : a.name < b.name;
  });
  for (const FolderEntry& entry : entries) {
    if (used + bytes <= m_config.limit) return;
    if (entry.isPart) continue;
    step(WriteStep::Remove);
    if (::unlink(pathOf(entry.name).c_str()) != 0 && errno != ENOENT) continue;
    used -= entry.bytes;
    forget(entry.name);
  }
}

bool DiskStore::put(const std::string& fingerprint, const std::string& model, std::uint32_t slotBytes,
                    std::vector<BlockToKeep> blocks) {
  refresh();
  tellUses();
  std::erase_if(blocks, [this](const BlockToKeep& block) { return has(block.facts.name); });
  if (blocks.empty()) return true;
  PackHead head;
  head.storedAt = now();
  head.slotBytes = slotBytes;
  head.fingerprint = fingerprint;
  head.model = model;
  head.entries.reserve(blocks.size());
  for (const BlockToKeep& block : blocks) {
    head.entries.push_back({.name = block.facts.name,
                            .parent = block.facts.parent,
                            .tokens = block.facts.tokens,
                            .base = block.facts.base,
                            .checksum = hash128({reinterpret_cast<const std::uint8_t*>(block.bytes->data()),
                                                 block.bytes->size()})});
  }
  const std::vector<std::uint8_t> bytes = encodePackHead(head);
  if (packBytes(head) > m_config.limit) {
    tell(m_folder.path(), "blocks of " + std::to_string(packBytes(head)) + " bytes",
         "at most " + std::to_string(m_config.limit) + ", the bound of the store");
    return false;
  }
  return write(bytes, head, blocks);
}

bool DiskStore::write(const std::vector<std::uint8_t>& head, const PackHead& facts,
                      const std::vector<BlockToKeep>& blocks) {
  const std::string name = newName() + kPackEnding;
  const std::uint64_t size = packBytes(facts);
  Part part(pathOf("." + name + kPartEnding));
  const auto fails = [&](int error) {
    if (error == 0) return false;
    tell(m_folder.path(), std::generic_category().message(error), "room for a pack that can be written");
    return true;
  };
  const auto attempt = [&](WriteStep what, const auto& work) {
    const int injected = step(what);
    return !fails(injected != 0 ? injected : work());
  };
  try {
    const StoreLock lock(m_folder.lockFile());
    makeRoom(size);
    if (!attempt(WriteStep::Create, [&] { return part.create(); }) ||
        !attempt(WriteStep::Reserve, [&] { return part.reserve(size); }))
      return false;
  } catch (const Failure& failure) {
    m_problems.push_back(failure.error());
    return false;
  }
  // Blocks first: a head without them would have nothing to say.
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::vector<std::byte>& bytes = *blocks[i].bytes;
    if (!attempt(WriteStep::Write,
                 [&] { return part.write(bytes.data(), bytes.size(), facts.entries[i].offset); }))
      return false;
  }
  if (!attempt(WriteStep::Write, [&] { return part.write(head.data(), head.size(), 0); }) ||
      !attempt(WriteStep::Sync, [&] { return part.finish(size); }) ||
      !attempt(WriteStep::Rename, [&] { return part.name(pathOf(name)); }))
    return false;
  // It is there and whole; that its name outlives a power cut is not certain before this.
  attempt(WriteStep::SyncFolder, [&] { return syncFolder(m_folder.packs()); });
  add(name);
  return true;
}

// ---- the store as a whole
// --------------------------------------------------------------------------------------

std::vector<PackSummary> DiskStore::list() {
  tellUses();
  std::vector<PackSummary> packs;
  for (const FolderEntry& entry : scan()) {
    if (entry.isPart) continue;
    PackSummary& summary = packs.emplace_back();
    summary.name = entry.name;
    summary.bytes = entry.bytes;
    summary.usedAt = entry.usedAt;
    std::shared_ptr<const Pack> pack;
    const PackHead* head = nullptr;
    if (const auto known = m_packs.find(entry.name); known != m_packs.end()) {
      head = &known->second.head;
    } else if ((pack = Pack::open(pathOf(entry.name), summary.fault, summary.what)) != nullptr) {
      head = &pack->head();
    }
    if (head == nullptr) continue;
    summary.fingerprint = head->fingerprint;
    summary.model = head->model;
    summary.blocks = head->entries.size();
    summary.tokens = head->tokens();
    summary.storedAt = head->storedAt;
  }
  std::erase_if(packs, [](const PackSummary& pack) { return pack.fault == PackFault::Gone; });
  std::sort(packs.begin(), packs.end(), [](const PackSummary& a, const PackSummary& b) {
    return a.usedAt != b.usedAt ? a.usedAt > b.usedAt : a.name < b.name;
  });
  return packs;
}

std::vector<PackSummary> DiskStore::verify() {
  std::vector<PackSummary> packs = list();
  for (PackSummary& summary : packs) {
    if (summary.fault == PackFault::None) {
      const std::shared_ptr<const Pack> pack = Pack::open(pathOf(summary.name), summary.fault, summary.what);
      if (pack != nullptr) {
        for (const PackEntry& entry : pack->head().entries)
          summary.damagedBlocks += pack->isIntact(entry) ? 0 : 1;
      }
      if (summary.damagedBlocks > 0) {
        summary.fault = PackFault::Damaged;
        summary.what = "wrong checksums";
      }
    }
    if (summary.fault == PackFault::Damaged) {
      ::unlink(pathOf(summary.name).c_str());
      forget(summary.name);
    }
  }
  return packs;
}

std::size_t DiskStore::clear(const std::string& model) {
  const StoreLock lock(m_folder.lockFile());
  std::size_t removed = 0;
  for (const PackSummary& pack : list()) {
    if (!model.empty() && pack.model != model) continue;
    if (::unlink(pathOf(pack.name).c_str()) != 0) continue;
    forget(pack.name);
    ++removed;
  }
  for (const FolderEntry& entry : scan()) {
    if (entry.isPart && isLeftOver(pathOf(entry.name))) ::unlink(pathOf(entry.name).c_str());
  }
  return removed;
}

std::size_t DiskStore::copyTo(const fs::path& folder) {
  const auto refuse = [&](const fs::path& path, const std::string& found, const std::string& expected) {
    throw Failure({.file = path.string(), .place = {}, .found = found, .expected = expected});
  };
  std::error_code error;
  if (fs::exists(folder, error)) refuse(folder, "something that is there already", "a new folder");
  constexpr mode_t kOwner = 0700;
  if (::mkdir(folder.c_str(), kOwner) != 0)
    refuse(folder, std::generic_category().message(errno), "a folder that can be made");
  // With the same secret, the names of the packs are those of the copy.
  fs::copy_file(m_folder.path() / "secret", folder / "secret", error);
  if (error) refuse(folder / "secret", error.message(), "a file that can be written");
  const StoreFolder copy(folder);
  std::size_t copied = 0;
  for (const PackSummary& pack : verify()) {
    if (pack.fault != PackFault::None) continue;
    const fs::path target = copy.packs() / pack.name;
    fs::copy_file(pathOf(pack.name), target, error);
    if (error) refuse(target, error.message(), "a file that can be written");
    ++copied;
  }
  return copied;
}

std::uint64_t DiskStore::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [name, known] : m_packs) sum += known.bytes;
  return sum;
}

std::uint64_t DiskStore::blocks() const {
  std::uint64_t sum = 0;
  for (const auto& [name, known] : m_packs) sum += known.head.entries.size();
  return sum;
}

std::uint64_t DiskStore::tokens() const {
  std::uint64_t sum = 0;
  for (const auto& [name, known] : m_packs) sum += known.head.tokens();
  return sum;
}

}  // namespace spanscope::cache
