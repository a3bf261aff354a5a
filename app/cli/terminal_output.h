// SPDX-License-Identifier: GPL-3.0-or-later
// Stands between the commands and the streams to which they write, so that nothing in a model, a file or a
// name reaches a terminal as a control sequence.
#pragma once

#include "app/cli/cli.h"
#include "engine/base/utf8.h"

#include <array>
#include <ostream>
#include <stop_token>
#include <streambuf>

namespace spanscope::cli {

/// Writes text into another buffer as VisibleText shows it. The other buffer must outlive this one.
class VisibleBuffer final : public std::streambuf {
 public:
  explicit VisibleBuffer(std::streambuf& target) : m_target(target) {}
  ~VisibleBuffer() override;
  VisibleBuffer(const VisibleBuffer&) = delete;
  VisibleBuffer& operator=(const VisibleBuffer&) = delete;

 protected:
  int_type overflow(int_type byte) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

 private:
  std::streambuf& m_target;
  VisibleText m_text;
};

/// The streams that commands use. Standard error, which people read, always shows visible text. Standard
/// output does so on a terminal; elsewhere it gets the bytes unchanged.
class CommandStreams {
 public:
  /// `given` must outlive this object.
  explicit CommandStreams(const Streams& given);

  const Streams& streams() const { return m_streams; }

 private:
  VisibleBuffer m_outBuffer;
  VisibleBuffer m_errBuffer;
  std::ostream m_out;
  std::ostream m_err;
  Streams m_streams;
};

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
