// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <stop_token>
#include <streambuf>

namespace spanscope::cli {

/// Writes to a file descriptor and keeps what went wrong first, which no stream does: a full disk is told
/// apart from a reader that has seen enough.
class DescriptorOutput final : public std::streambuf {
 public:
  /// The descriptor stays open and belongs to the caller. What is left to write is written by flushing.
  explicit DescriptorOutput(int descriptor);

  /// The number (errno) of the first error; from then on nothing more is written. 0: all is well.
  int error() const { return m_error; }
  /// Asked to stop with the first error.
  std::stop_token lost() const { return m_lost.get_token(); }

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  /// Writes what waits; false: it could not all be written.
  bool writeAll();

  int m_descriptor;
  int m_error = 0;
  std::stop_source m_lost;
  std::array<char, 1U << 14U> m_buffer{};
};

}  // namespace spanscope::cli
