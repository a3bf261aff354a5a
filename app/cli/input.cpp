// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/input.h"

#include "engine/base/error.h"
#include "engine/base/problem_sentence.h"
#include "engine/base/readable_file.h"
#include "engine/base/utf8.h"
#include "engine/query/json/json.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <istream>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::cli {

namespace {

[[noreturn]] void refuse(const std::string& file, std::string problem, std::string cure) {
  throw Failure(
      {.file = inputName(file), .place = {}, .found = std::move(problem), .expected = std::move(cure)});
}

std::string readAll(const std::string& file, std::istream& in, std::size_t most) {
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16U);
  while (text.size() < most && in) {
    in.read(buffer.data(), static_cast<std::streamsize>(std::min(buffer.size(), most - text.size())));
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad())
    refuse(file, /*id:error-while-reading*/ "The file cannot be read to its end.",
           /*id:check-device*/ "Check the disk or the device.");
  return text;
}

/// The first `most` bytes.
std::string readBeginning(const std::string& file, const Streams& streams, std::size_t most) {
  std::string text;
  if (file == "-") {
    text = readAll(file, streams.in, most);
  } else {
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
      refuse(file, "This path is a folder.", "Give the path of a file.");
    // The code below waits for the writer of a pipe, because a stop can end that wait.
    const Descriptor opened(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (opened.number() < 0) {
      const int reason = errno;
      if (reason == ENOENT)
        refuse(file, /*id:file-does-not-exist*/ "This file does not exist.",
               /*id:check-path*/ "Check the path.");
      refuse(file, systemReport(reason), "a readable file");
    }
    InterruptibleInput input(opened.number(), streams.stop);
    std::istream in(&input);
    text = readAll(file, in, most);
  }
  if (streams.stop.stop_requested()) refuse(file, "The command was stopped while it read this file.", {});
  return text;
}

}  // namespace

std::string readInput(const std::string& file, const Streams& streams) {
  return inUtf8(readBeginning(file, streams, query::ParseLimits{}.maxBytes + 1));
}

std::string readInput(const std::string& file, const Streams& streams, std::size_t most) {
  std::string text = readBeginning(file, streams, most + 1);
  if (text.size() > most) {
    throw Failure({.file = inputName(file),
                   .place = {},
                   .found = "This text has more than " + std::to_string(most) + " bytes.",
                   .expected = "Use a smaller text."});
  }
  return text;
}

std::string inputName(const std::string& file) {
  return file == "-" ? "standard input" : onOneLine(file);
}

InterruptibleInput::InterruptibleInput(int descriptor, std::stop_token stop)
    : m_descriptor(descriptor), m_stop(std::move(stop)) {}

bool InterruptibleInput::wait() const {
  constexpr int kPeriod = 50;  // milliseconds: short for the user, long for the processor
  while (!m_stop.stop_requested()) {
    pollfd ready{.fd = m_descriptor, .events = POLLIN, .revents = 0};
    // A descriptor that cannot be polled is read immediately, e.g. a plain file on some systems.
    const int count = poll(&ready, 1, kPeriod);
    if (count > 0 || (count < 0 && errno != EINTR)) return true;
  }
  return false;
}

InterruptibleInput::int_type InterruptibleInput::underflow() {
  ssize_t count = -1;
  while (count < 0) {
    if (!wait()) return traits_type::eof();
    count = read(m_descriptor, m_buffer.data(), m_buffer.size());
    const bool isNothingYet = errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
    if (count < 0 && !isNothingYet) throw std::system_error(errno, std::generic_category());
  }
  if (count == 0) return traits_type::eof();
  setg(m_buffer.data(), m_buffer.data(), m_buffer.data() + count);
  return traits_type::to_int_type(*gptr());
}

}  // namespace spanscope::cli
