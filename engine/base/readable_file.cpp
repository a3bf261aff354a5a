// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/readable_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <mutex>
#include <vector>

namespace spanscope {

MappedBytes::~MappedBytes() {
  unmap();
}

MappedBytes::MappedBytes(std::span<const std::byte> bytes, Descriptor file, const struct timespec& changed)
    : m_bytes(bytes), m_file(std::move(file)), m_changed(changed), m_range(bytes) {}

MappedBytes::MappedBytes(MappedBytes&& other) noexcept
    : m_bytes(std::exchange(other.m_bytes, {})),
      m_file(std::move(other.m_file)),
      m_changed(other.m_changed),
      m_range(std::move(other.m_range)) {}

MappedBytes& MappedBytes::operator=(MappedBytes&& other) noexcept {
  if (this != &other) {
    unmap();
    m_bytes = std::exchange(other.m_bytes, {});
    m_file = std::move(other.m_file);
    m_changed = other.m_changed;
    m_range = std::move(other.m_range);
  }
  return *this;
}

bool MappedBytes::isCut() const {
  if (m_bytes.empty()) return false;
  struct stat status {};
  return m_range.wasCut() || ::fstat(m_file.number(), &status) != 0 ||
         static_cast<std::size_t>(status.st_size) < m_bytes.size();
}

bool MappedBytes::isChanged() const {
  if (m_bytes.empty()) return false;
  struct stat status {};
  return ::fstat(m_file.number(), &status) != 0 || status.st_mtim.tv_sec != m_changed.tv_sec ||
         status.st_mtim.tv_nsec != m_changed.tv_nsec;
}

void MappedBytes::unmap() noexcept {
  m_range = {};
  // munmap() takes the result of mmap(), which was not const.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  if (!m_bytes.empty()) ::munmap(const_cast<std::byte*>(m_bytes.data()), m_bytes.size());
}

std::optional<ReadableFile> ReadableFile::open(const std::filesystem::path& path, LinkRule links) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (links == LinkRule::Refuse ? O_NOFOLLOW : 0);
  Descriptor file(::open(path.c_str(), flags));
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return std::nullopt;
  return ReadableFile(std::move(file), status);
}

std::optional<MappedBytes> ReadableFile::map() const {
  const auto size = static_cast<std::size_t>(m_status.st_size);
  if (size == 0) return MappedBytes();
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, m_file.number(), 0);
  if (address == MAP_FAILED) return std::nullopt;
  const std::span bytes(static_cast<const std::byte*>(address), size);
  Descriptor file(::fcntl(m_file.number(), F_DUPFD_CLOEXEC, 0));
  if (file.number() >= 0) return MappedBytes(bytes, std::move(file), m_status.st_mtim);
  const int error = errno;
  ::munmap(address, size);
  errno = error;
  return std::nullopt;
}

/// A range that the handler reads without a lock. `change` is odd during a change of the range, and has
/// another value after the change. Two equal even values therefore show a consistent read.
struct MappedRangeSlot {
  std::atomic<std::uint32_t> change = 0;
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;  ///< 0: the slot is free
  std::atomic<bool> wasCut = false;
};

namespace {

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// Slots are never deleted, so that the handler can visit all slots at any time.
struct SlotChunk {
  std::array<MappedRangeSlot, 64> slots;
  std::atomic<SlotChunk*> next = nullptr;
};

class RangeTable {
 public:
  /// Marks the range with this address as cut, and sets `end` to its end. Returns false if there is no such
  /// range. Only the handler calls this function.
  bool noteCut(std::uintptr_t address, std::uintptr_t& end) {
    for (SlotChunk* chunk = &m_first; chunk != nullptr; chunk = chunk->next.load(std::memory_order_acquire)) {
      for (MappedRangeSlot& slot : chunk->slots) {
        const std::uint32_t before = slot.change.load();
        const std::uintptr_t slotBegin = slot.begin.load();
        const std::uintptr_t slotEnd = slot.end.load();
        // The range with the address is not being changed, because a thread is reading it.
        if (before % 2 != 0 || slot.change.load() != before) continue;
        if (address < slotBegin || address >= slotEnd) continue;
        slot.wasCut.store(true);
        end = slotEnd;
        return true;
      }
    }
    return false;
  }

  MappedRangeSlot* take(std::uintptr_t begin, std::uintptr_t end) {
    const std::lock_guard lock(m_mutex);
    SlotChunk* last = &m_first;
    for (SlotChunk* chunk = last; chunk != nullptr; chunk = chunk->next.load()) {
      last = chunk;
      for (MappedRangeSlot& slot : chunk->slots) {
        if (slot.end.load() != 0) continue;
        set(slot, begin, end);
        return &slot;
      }
    }
    auto added = std::make_unique<SlotChunk>();
    MappedRangeSlot& slot = added->slots.front();
    set(slot, begin, end);
    last->next.store(added.get(), std::memory_order_release);
    m_added.push_back(std::move(added));
    return &slot;
  }

  void release(MappedRangeSlot& slot) {
    const std::lock_guard lock(m_mutex);
    set(slot, 0, 0);
  }

 private:
  static void set(MappedRangeSlot& slot, std::uintptr_t begin, std::uintptr_t end) {
    slot.change.fetch_add(1);
    slot.begin.store(begin);
    slot.end.store(end);
    slot.wasCut.store(false);
    slot.change.fetch_add(1);
  }

  std::mutex m_mutex;  ///< locked by threads that change the table, but not by the handler
  SlotChunk m_first;
  std::vector<std::unique_ptr<SlotChunk>> m_added;
};

/// The table, and the previous handlers of the signal. The object is never destroyed, because threads may
/// read mapped files until the process ends.
struct SharedState {
  RangeTable table;
  struct sigaction before {};
  std::uintptr_t pageSize = 4096;
};

std::atomic<SharedState*> sharedState = nullptr;  // NOLINT: see the header

void answerOthers(int signal, siginfo_t* info, void* context, const struct sigaction& before) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
    // The signal had no handler before. The next read or signal has the default effect.
    ::sigaction(signal, &before, nullptr);
    if (info->si_code <= 0) ::raise(signal);
  } else {
    before.sa_handler(signal);
  }
}

/// Async-signal-safe: the handler uses only atomics, mmap() and sigaction().
void onBusError(int signal, siginfo_t* info, void* context) {
  SharedState& state = *sharedState.load();
  const int savedErrno = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  std::uintptr_t end = 0;
  // A positive code means that the system sent the signal for this address.
  if (info->si_code > 0 && state.table.noteCut(address, end)) {
    const std::uintptr_t page = address / state.pageSize * state.pageSize;
    // The following pages are also missing. Pages of zeros take no memory.
    void* const zeros = ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    errno = savedErrno;
    if (zeros != MAP_FAILED) return;
  }
  answerOthers(signal, info, context, state.before);
  errno = savedErrno;
}

SharedState& installed() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto state = std::make_unique<SharedState>();
    state->pageSize = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    ::sigaction(SIGBUS, nullptr, &state->before);
    sharedState.store(state.release());
    struct sigaction action {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, nullptr);
  });
  return *sharedState.load();
}

}  // namespace

MappedRange::MappedRange(std::span<const std::byte> bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  m_slot = installed().table.take(begin, begin + bytes.size());
}

MappedRange::~MappedRange() {
  release();
}

MappedRange& MappedRange::operator=(MappedRange&& other) noexcept {
  if (this != &other) {
    release();
    m_slot = std::exchange(other.m_slot, nullptr);
  }
  return *this;
}

void MappedRange::release() noexcept {
  if (m_slot != nullptr) sharedState.load()->table.release(*m_slot);
  m_slot = nullptr;
}

bool MappedRange::wasCut() const {
  return m_slot != nullptr && m_slot->wasCut.load();
}

std::optional<FileIdentity> identityOf(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{.device = found.st_dev, .number = found.st_ino};
}

void holdStandardDescriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() uses the lowest free number, which is this number. The file is opened only for reading, so that
    // writing is an error.
    if (::open("/dev/null", O_RDONLY) < 0) return;
  }
}

void reportWriteErrors() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace spanscope
