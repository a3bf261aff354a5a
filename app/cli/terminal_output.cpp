// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal_output.h"

#include "engine/base/utf8.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <utility>

namespace spanscope::cli {

VisibleBuffer::~VisibleBuffer() {
  std::string shown;
  m_text.finish(shown);
  if (shown.empty()) return;
  m_target.sputn(shown.data(), static_cast<std::streamsize>(shown.size()));
  m_target.pubsync();
}

VisibleBuffer::int_type VisibleBuffer::overflow(int_type byte) {
  if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
  const char written = traits_type::to_char_type(byte);
  return xsputn(&written, 1) == 1 ? byte : traits_type::eof();
}

std::streamsize VisibleBuffer::xsputn(const char* text, std::streamsize count) {
  std::string shown;
  m_text.append(shown, std::string_view(text, static_cast<std::size_t>(count)));
  const auto size = static_cast<std::streamsize>(shown.size());
  // The visible text has other bytes than `text`. If some visible bytes are not written, no byte of `text`
  // counts as written.
  return m_target.sputn(shown.data(), size) == size ? count : 0;
}

int VisibleBuffer::sync() {
  return m_target.pubsync();
}

CommandStreams::CommandStreams(const Streams& given)
    : m_outBuffer(*given.out.rdbuf()),
      m_errBuffer(*given.err.rdbuf()),
      m_out(&m_outBuffer),
      m_err(&m_errBuffer),
      m_streams{.in = given.in,
                .out = given.outIsTerminal ? m_out : given.out,
                .err = m_err,
                .terminal = given.terminal,
                .outIsTerminal = given.outIsTerminal,
                .canAsk = given.canAsk,
                .output = given.output,
                .unfinished = given.unfinished,
                .endsByItself = given.endsByItself,
                .paceFile = given.paceFile,
                .recentModelsFile = given.recentModelsFile} {
  m_err.flags(given.err.flags());
  // If the streams are tied, earlier text on standard output is shown first.
  if (given.err.tie() != nullptr) m_err.tie(&m_streams.out);
}

DescriptorOutput::DescriptorOutput(int descriptor) : m_descriptor(descriptor) {
  setp(m_buffer.data(), m_buffer.data() + m_buffer.size());
}

bool DescriptorOutput::writeAll() {
  const char* next = pbase();
  while (m_error == 0 && next < pptr()) {
    const ssize_t written = write(m_descriptor, next, static_cast<std::size_t>(pptr() - next));
    if (written >= 0) {
      next += written;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Another program that shares the descriptor may have made the descriptor non-blocking.
      pollfd ready{.fd = m_descriptor, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      m_error = errno;
    }
  }
  setp(m_buffer.data(), m_buffer.data() + m_buffer.size());
  if (m_error == 0) return true;
  m_lost.request_stop();
  return false;
}

DescriptorOutput::int_type DescriptorOutput::overflow(int_type character) {
  if (!writeAll()) return traits_type::eof();
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  *pptr() = traits_type::to_char_type(character);
  pbump(1);
  return character;
}

int DescriptorOutput::sync() {
  return writeAll() ? 0 : -1;
}

void TextTable::addRow(std::vector<std::string> cells) {
  cells.resize(m_columns.size());
  for (std::string& cell : cells) cell = onOneLine(cell);
  m_rows.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < m_columns.size(); ++c) {
    std::size_t width = countCharacters(m_columns[c].title);
    for (const auto& row : m_rows) width = std::max(width, countCharacters(row[c]));
    widths.push_back(width);
  }
  std::string text;
  const auto addLine = [&](const auto& cellOf) {
    std::string line;
    for (std::size_t c = 0; c < m_columns.size(); ++c) {
      const std::string& cell = cellOf(c);
      const std::string blanks(widths[c] - countCharacters(cell), ' ');
      line += "  ";
      line += m_columns[c].align == Align::Left ? cell + blanks : blanks + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  const bool titled =
      std::ranges::any_of(m_columns, [](const Column& column) { return !column.title.empty(); });
  if (titled) addLine([this](std::size_t c) -> const std::string& { return m_columns[c].title; });
  for (const auto& row : m_rows) addLine([&row](std::size_t c) -> const std::string& { return row[c]; });
  return text;
}

std::string fixed(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

std::string shortNumber(double value) {
  static constexpr std::array<const char*, 5> kUnits = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const bool whole = unit == 0 && value == std::floor(value);
  const int digits = whole || std::abs(value) >= 99.95 ? 0 : (std::abs(value) >= 9.995 ? 1 : 2);
  return fmt::format("{:.{}f}{}", value, digits, kUnits[unit]);
}

}  // namespace spanscope::cli
