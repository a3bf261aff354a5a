// SPDX-License-Identifier: GPL-3.0-or-later
// Stands between the commands and the streams to which they write, so that nothing in a model, a file or a
// name reaches a terminal as a control sequence.
#pragma once

#include "app/cli/cli.h"
#include "engine/base/visible_text.h"

#include <ostream>
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

}  // namespace spanscope::cli
