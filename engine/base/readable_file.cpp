// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/readable_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

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
  // munmap takes what mmap gave, which was not const. NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
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

}  // namespace spanscope
