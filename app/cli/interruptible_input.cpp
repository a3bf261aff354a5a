// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interruptible_input.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace spanscope::cli {

InterruptibleInput::InterruptibleInput(int descriptor, std::stop_token stop)
    : m_descriptor(descriptor), m_stop(std::move(stop)) {}

bool InterruptibleInput::wait() const {
  constexpr int kPeriod = 50;  // milliseconds: soon for a person, rare for the processor
  while (!m_stop.stop_requested()) {
    pollfd ready{.fd = m_descriptor, .events = POLLIN, .revents = 0};
    // What cannot be polled, such as a plain file on some systems, is read at once.
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
