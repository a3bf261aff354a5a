// SPDX-License-Identifier: GPL-3.0-or-later
// Owns file descriptors, and protects standard input, output and error. Open this file to open a file with
// the system's calls.
#pragma once

#include <unistd.h>

#include <utility>

namespace spanscope {

/// Owns the descriptor of an open file and closes it on destruction.
class Descriptor {
 public:
  /// A `number` below 0 means no file.
  explicit Descriptor(int number) : m_number(number) {}
  ~Descriptor() {
    if (m_number >= 0) ::close(m_number);
  }
  Descriptor(Descriptor&& other) noexcept : m_number(std::exchange(other.m_number, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(m_number, other.m_number);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return m_number; }

 private:
  int m_number;
};

/// Call this at the start of a program, before it opens anything. It opens each of the descriptors 0 to 2
/// that is closed. Otherwise a file could get such a number, and messages would be written into that file.
/// Reading from such a descriptor reaches the end. Writing to it fails with EBADF, as with a closed one.
void holdStandardDescriptors();

/// Makes a write fail with an error, without ending the program. This applies to pipes without a reader, and
/// to files beyond the largest allowed size.
void reportWriteErrors();

}  // namespace spanscope
