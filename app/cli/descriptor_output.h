// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <stop_token>
#include <streambuf>

namespace spanscope::cli {

/// Writes to a file descriptor and keeps the first error, which streams do not. So a full disk can be told
/// apart from a reader that has gone away.
class DescriptorOutput final : public std::streambuf {
 public:
  /// The descriptor stays open and belongs to the caller. Flushing writes what is left.
  explicit DescriptorOutput(int descriptor);

  /// The number (errno) of the first error, after which nothing more is written. 0: no error.
  int error() const { return m_error; }
  /// A stop token that the first error triggers.
  std::stop_token lost() const { return m_lost.get_token(); }

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  /// Writes the buffered bytes. Returns false if not all could be written.
  bool writeAll();

  int m_descriptor;
  int m_error = 0;
  std::stop_source m_lost;
  std::array<char, 1U << 14U> m_buffer{};
};

}  // namespace spanscope::cli
