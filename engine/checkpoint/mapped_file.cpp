// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/mapped_file.h"

#include "engine/base/error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace spanscope::checkpoint {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : m_number(number) {}
  ~Descriptor() {
    if (m_number >= 0) ::close(m_number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return m_number; }

 private:
  int m_number;
};

[[noreturn]] void fail(const std::filesystem::path& path, const char* expected) {
  throw Failure({path.string(), "", std::generic_category().message(errno), expected});
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) fail(path, "a file that can be read");
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) fail(path, "a file that can be read");
  if (!S_ISREG(status.st_mode)) throw Failure({path.string(), "", "something else", "a regular file"});
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) fail(path, "a file that can be mapped into memory");
  m_bytes = {static_cast<const std::byte*>(address), size};
}

MappedFile::~MappedFile() {
  unmap();
}

MappedFile::MappedFile(MappedFile&& other) noexcept : m_bytes(std::exchange(other.m_bytes, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    m_bytes = std::exchange(other.m_bytes, {});
  }
  return *this;
}

void MappedFile::unmap() noexcept {
  // munmap takes what mmap gave, which was not const. NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  if (!m_bytes.empty()) ::munmap(const_cast<std::byte*>(m_bytes.data()), m_bytes.size());
}

}  // namespace spanscope::checkpoint
