// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <stop_token>
#include <streambuf>

namespace spanscope::cli {

/// Reads a file descriptor. A stop request ends the reading while it waits, so that the program need not wait
/// for a person's answer or for a pipe to which nobody writes. If the descriptor cannot be read, reading
/// throws std::system_error, which sets the stream's badbit.
class InterruptibleInput final : public std::streambuf {
 public:
  /// The descriptor stays open and belongs to the caller. It may be non-blocking.
  InterruptibleInput(int descriptor, std::stop_token stop);

 protected:
  int_type underflow() override;

 private:
  /// Waits for input. Returns false if it was asked to stop.
  bool wait() const;

  int m_descriptor;
  std::stop_token m_stop;
  std::array<char, 4096> m_buffer{};
};

}  // namespace spanscope::cli
