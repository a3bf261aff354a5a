// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <stop_token>
#include <streambuf>

namespace spanscope::cli {

/// Reads a file descriptor, and ends when it is asked to stop while it waits: a person who is asked a
/// question, or a pipe that nobody writes to, can be left. Where the descriptor cannot be read, reading
/// throws std::system_error, from which a stream goes bad.
class InterruptibleInput final : public std::streambuf {
 public:
  /// The descriptor stays open and belongs to the caller; it may be one that never blocks.
  InterruptibleInput(int descriptor, std::stop_token stop);

 protected:
  int_type underflow() override;

 private:
  /// Waits for input; false: it was asked to stop.
  bool wait() const;

  int m_descriptor;
  std::stop_token m_stop;
  std::array<char, 4096> m_buffer{};
};

}  // namespace spanscope::cli
