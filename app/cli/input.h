// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli.h"

#include <array>
#include <cstddef>
#include <stop_token>
#include <streambuf>
#include <string>

namespace spanscope::cli {

/// Reads a query file, which may be a pipe or a terminal; "-" is standard input. UTF-16 and UTF-32 become
/// UTF-8, other bytes stay as they are. It reads at most one byte more than a query may have, so that the
/// parser can say that the query is too long. Throws Failure if the file cannot be read, or if the program is
/// asked to stop before all of it was read.
std::string readInput(const std::string& file, const Streams& streams);
/// The bytes of a file of at most `most` bytes. Throws Failure if it has more.
std::string readInput(const std::string& file, const Streams& streams, std::size_t most);

/// The name of a file in messages, on one line. "-" becomes "standard input".
std::string inputName(const std::string& file);

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
