// SPDX-License-Identifier: GPL-3.0-or-later
// Output of commands to streams and terminals. A text from a model or a file cannot send a control sequence
// to a terminal.
#pragma once

#include "app/cli/cli.h"
#include "engine/base/utf8.h"

#include <nlohmann/json.hpp>

#include <array>
#include <ostream>
#include <stop_token>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {

/// Writes text into another buffer in the form of VisibleText. The other buffer must outlive this buffer.
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

/// The streams that commands use. The err stream always shows control characters as visible text. The out
/// stream shows control characters as visible text only on a terminal. A file or a pipe gets the bytes
/// unchanged.
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

/// Writes to a file descriptor and keeps the first error. A stream does not keep this error. The error
/// distinguishes a full disk from a closed pipe.
class DescriptorOutput final : public std::streambuf {
 public:
  /// The descriptor stays open and belongs to the caller. Flushing writes the rest of the buffer.
  explicit DescriptorOutput(int descriptor);

  /// The number (errno) of the first error, after which nothing more is written. 0: no error.
  int error() const { return m_error; }
  /// A stop token that the first error triggers.
  std::stop_token lost() const { return m_lost.get_token(); }

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  /// Writes the buffered bytes. Returns false if some bytes cannot be written.
  bool writeAll();

  int m_descriptor;
  int m_error = 0;
  std::stop_source m_lost;
  std::array<char, 1U << 14U> m_buffer{};
};

/// Factor from seconds to the milliseconds of reports.
inline constexpr double kMilliseconds = 1000;

/// Rows of text in aligned columns, for a terminal.
class TextTable {
 public:
  enum class Align { Left, Right };
  struct Column {
    std::string title;
    Align align = Align::Right;
  };

  explicit TextTable(std::vector<Column> columns) : m_columns(std::move(columns)) {}

  /// Adds a row with one cell for each column, shown on one line. Missing cells are empty; surplus cells are
  /// left out.
  void addRow(std::vector<std::string> cells);
  /// The titles, if there are any, and all rows, each line indented by two spaces and ended by a newline.
  std::string text() const;

 private:
  std::vector<Column> m_columns;
  std::vector<std::vector<std::string>> m_rows;
};

/// A number with `digits` digits after the point.
std::string fixed(double value, int digits);
/// 1234567 as "1.23 M", for counts and rates. The units are powers of 1000.
std::string shortNumber(double value);

/// The output of a command for --json, without a line end. Names and messages can contain bytes of files.
/// Bytes that are not UTF-8 become U+FFFD, so that the rest of the output stays valid.
template <typename Json>
std::string jsonText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spanscope::cli
