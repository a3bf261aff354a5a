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
/// UTF-8. Other bytes do not change. Reads at most one byte more than the max size of a query. The parser can
/// then report that the query is too long. Throws Failure if the file cannot be read, or if a stop request
/// arrives before the end of the file.
std::string readInput(const std::string& file, const Streams& streams);
/// The bytes of a file. Throws Failure if the file has more than `most` bytes.
std::string readInput(const std::string& file, const Streams& streams, std::size_t most);

/// The name of a file in messages, on one line. "-" becomes "standard input".
std::string inputName(const std::string& file);

/// Reads a file descriptor. A stop request ends the wait for input, e.g. for the user's answer, or for a pipe
/// without a writer. If the descriptor cannot be read, the buffer throws std::system_error, and the stream
/// sets badbit.
class InterruptibleInput final : public std::streambuf {
 public:
  /// The descriptor stays open and belongs to the caller. The descriptor may be non-blocking.
  InterruptibleInput(int descriptor, std::stop_token stop);

 protected:
  int_type underflow() override;

 private:
  /// Waits for input. Returns false after a stop request.
  bool wait() const;

  int m_descriptor;
  std::stop_token m_stop;
  std::array<char, 4096> m_buffer{};
};

}  // namespace spanscope::cli
