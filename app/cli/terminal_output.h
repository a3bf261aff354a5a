// SPDX-License-Identifier: GPL-3.0-or-later
// What stands between the commands and the streams that they write to: nothing that a model, a file or a name
// holds reaches a terminal as a command.
#pragma once

#include "app/cli/cli.h"
#include "engine/base/visible_text.h"

#include <ostream>
#include <streambuf>

namespace spanscope::cli {

/// Writes text as VisibleText shows it into another buffer, which outlives it.
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

/// The streams as commands use them. Standard error, which people read, always shows visible text; standard
/// output does on a terminal, and is as it is given elsewhere.
class CommandStreams {
 public:
  /// `given` outlives it.
  explicit CommandStreams(const Streams& given);

  const Streams& streams() const { return m_streams; }

 private:
  VisibleBuffer m_outBuffer;
  VisibleBuffer m_errBuffer;
  std::ostream m_out;
  std::ostream m_err;
  Streams m_streams;
};

}  // namespace spanscope::cli
