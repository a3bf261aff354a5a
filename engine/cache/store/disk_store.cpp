// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/disk_store.h"

#include "engine/base/clock.h"
#include "engine/base/problem_sentence.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace spanscope::cache {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kThousand = 1'000;

std::string kindOf(PackFault fault) {
  switch (fault) {
    case PackFault::None:
    case PackFault::Gone:
      break;
    case PackFault::Unreadable:
      return "a file that only this user can read";
    case PackFault::OtherVersion:
      return "version " + std::to_string(kPackVersion);
    case PackFault::Damaged:
      return "an undamaged pack. The pack was removed";
  }
  return "a pack";
}

}  // namespace

DiskStore::DiskStore(DiskStoreConfig config)
    : m_config(std::move(config)),
      m_folder(m_config.folder, m_config.opening),
      m_writer(m_folder, m_config.limit, m_config.beforeStep) {
  m_writer.removeLeftOvers();
  refresh();
}

DiskStore::~DiskStore() {
  traceUses();
}

void DiskStore::report(const fs::path& path, std::string found, std::string expected) {
  m_problems.push_back(
      {.file = path.string(), .place = {}, .found = std::move(found), .expected = std::move(expected)});
}

std::vector<Error> DiskStore::takeProblems() {
  return std::exchange(m_problems, {});
}

void DiskStore::refresh() {
  // A folder may change twice within one tick of the clock. The two changes then have the same time.
  constexpr std::int64_t kTick = 50;
  struct stat status {};
  if (::stat(m_folder.packs().c_str(), &status) != 0) return;
  const std::int64_t changed = fileTime(status.st_mtim);
  if (changed == m_folderTime) return;
  m_folderTime = unixMilliseconds() - changed > kTick ? changed : -1;
  const std::vector<FolderEntry> entries = entriesOf(m_folder.packs());
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

/// Keeps packs mapped for a while, because the blocks of a prompt are usually in few packs.
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
      if (fault != PackFault::Gone) report(pathOf(name), what, kindOf(fault));
      forget(name);
    }
    return nullptr;
  }
  known.mapped = pack;
  m_lastMapped.push_back(pack);
  if (m_lastMapped.size() > kMostMapped) m_lastMapped.pop_front();
  return pack;
}

/// Another pack may have the same contents, e.g. if two processes computed these contents at the same time.
/// find() does not search that pack until the store is opened again.
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
  report(pathOf(name), why, kindOf(PackFault::Damaged));
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
    remove(file, "a block that does not match its name");
    return std::nullopt;
  }
  if (!pack->isIntact(entry)) {
    remove(file, "a block with a wrong checksum");
    return std::nullopt;
  }
  if (pack->isCut()) {
    remove(file, /*id:file-cut-while*/ "a file that got shorter while it was read");
    return std::nullopt;
  }
  known.usedAt = unixMilliseconds();
  return StoredBytes{.facts = {.name = name, .parent = parent, .tokens = tokens, .base = entry.base},
                     .tier = trace::StoreTier::Disk,
                     .bytes = pack->blockBytes(entry),
                     .holder = pack,
                     .pack = pack.get()};
}

/// For all processes, the modification time of a file is the time of its last use. The content of the file
/// never changes.
void DiskStore::traceUses() {
  for (auto& [name, known] : m_packs) {
    if (known.usedAt == 0) continue;
    const timespec time{known.usedAt / kThousand, known.usedAt % kThousand * kMillion};
    const timespec times[2] = {time, time};
    ::utimensat(AT_FDCWD, pathOf(name).c_str(), times, AT_SYMLINK_NOFOLLOW);
    known.usedAt = 0;
  }
}

bool DiskStore::put(const std::string& fingerprint, const std::string& model, std::uint32_t slotBytes,
                    std::vector<BlockToKeep> blocks) {
  leaveOutKnown(blocks);
  if (blocks.empty()) return true;
  return take(m_writer.write({fingerprint, model, slotBytes, blocks}));
}

void DiskStore::leaveOutKnown(std::vector<BlockToKeep>& blocks) {
  refresh();
  traceUses();
  std::erase_if(blocks, [this](const BlockToKeep& block) { return has(block.facts.name); });
}

bool DiskStore::take(const WrittenPack& written) {
  for (const std::string& name : written.removed) forget(name);
  m_problems.insert(m_problems.end(), written.problems.begin(), written.problems.end());
  // refresh() may have found the pack already.
  if (!written.name.empty() && !m_packs.contains(written.name)) add(written.name);
  return !written.name.empty();
}

// ---- the store as a whole
// --------------------------------------------------------------------------------------

std::vector<PackSummary> DiskStore::list() {
  traceUses();
  std::vector<PackSummary> packs;
  for (const FolderEntry& entry : entriesOf(m_folder.packs())) {
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
    summary.text = head->text;
    summary.blocks = head->entries.size();
    summary.tokens = head->tokens();
    summary.storedAt = head->storedAt;
  }
  std::erase_if(packs, [](const PackSummary& pack) { return pack.fault == PackFault::Gone; });
  std::ranges::sort(packs, [](const PackSummary& a, const PackSummary& b) {
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
  m_writer.removeLeftOvers();
  const StoreLock lock(m_folder.lockFile());
  if (!lock.isHeld()) throw StoreBusy(m_folder.lockFile());
  std::size_t removed = 0;
  for (const PackSummary& pack : list()) {
    if (!model.empty() && pack.model != model) continue;
    if (::unlink(pathOf(pack.name).c_str()) != 0) continue;
    forget(pack.name);
    ++removed;
  }
  return removed;
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
  /// Returns the error number, or 0.
  int close() { return ::close(std::exchange(m_number, -1)) == 0 ? 0 : errno; }

 private:
  int m_number;
};

[[noreturn]] void refuseOutput(const fs::path& path, int error, const char* expected) {
  throw OutputFailure(
      {.file = path.string(), .place = {}, .found = systemReport(error), .expected = expected});
}

fs::path partNameOf(const fs::path& folder) {
  constexpr std::size_t kLetters = 6;
  constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
  constexpr std::size_t kMostName = 180;  // bytes; a file name has at most 255 bytes
  std::string name = folder.filename().string().substr(0, kMostName) + '.';
  std::random_device random;
  std::uniform_int_distribution<std::size_t> letter(0, kAlphabet.size() - 1);
  for (std::size_t i = 0; i < kLetters; ++i) name += kAlphabet[letter(random)];
  return folder.parent_path() / (name + ".part");
}

/// A store while it is being copied. The destructor removes a copy that did not get its final name.
class Copy {
 public:
  /// `folder`: the final path. Messages contain this path.
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
      refuseOutput(shown(name), errno, "a folder that can be created");
    note(path);
  }

  /// Returns false if there is no such file.
  bool add(const fs::path& source, const fs::path& name) {
    const Descriptor from(::open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (from.number() < 0 && errno == ENOENT) return false;
    if (from.number() < 0) refuseInput(source, errno);
    const fs::path path = m_part / name;
    note(path);
    Descriptor to(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
    constexpr const char* kWritable = /*id:file-can-written*/ "a file that can be written";
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
      refuseOutput(m_folder, errno, "a folder that can be created");
    m_isNamed = true;
    forget();
    syncFolder(m_folder.has_parent_path() ? m_folder.parent_path() : fs::path("."));
  }

 private:
  fs::path shown(const fs::path& name) const { return name.empty() ? m_folder : m_folder / name; }

  [[noreturn]] static void refuseInput(const fs::path& path, int error) {
    throw Failure({.file = path.string(),
                   .place = {},
                   .found = systemReport(error),
                   .expected = "a file that can be read"});
  }

  std::size_t read(const Descriptor& from, const fs::path& source, std::vector<std::byte>& buffer) const {
    for (;;) {
      if (m_rules.stop.stop_requested())
        throw Failure(
            {.file = source.string(), .place = {}, .found = "The job was stopped.", .expected = {}});
      const ssize_t size = ::read(from.number(), buffer.data(), buffer.size());
      if (size >= 0) return static_cast<std::size_t>(size);
      if (errno != EINTR) refuseInput(source, errno);
    }
  }

  /// Ignores EINVAL, because some file systems do not support fsync().
  static void sync(const Descriptor& file, const fs::path& name) {
    if (::fsync(file.number()) != 0 && errno != EINVAL)
      refuseOutput(name, errno, "a file that can be synced to the disk");
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
                         .found = "an existing file or folder",
                         .expected = "a new folder"});
  }
  Copy copy(target, rules);
  copy.makeFolder("packs");
  const fs::path& source = store.folder().path();
  // The copy has the same secret, so the packs keep their names.
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
