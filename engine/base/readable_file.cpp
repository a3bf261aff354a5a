// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/readable_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <utility>

namespace spanscope {

MappedBytes::~MappedBytes() {
  unmap();
}

MappedBytes::MappedBytes(MappedBytes&& other) noexcept : m_bytes(std::exchange(other.m_bytes, {})) {}

MappedBytes& MappedBytes::operator=(MappedBytes&& other) noexcept {
  if (this != &other) {
    unmap();
    m_bytes = std::exchange(other.m_bytes, {});
  }
  return *this;
}

void MappedBytes::unmap() noexcept {
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
  return MappedBytes({static_cast<const std::byte*>(address), size});
}

}  // namespace spanscope
