// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interruptible_input.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace spanscope::cli {

InterruptibleInput::InterruptibleInput(int descriptor, std::stop_token stop)
    : m_descriptor(descriptor), m_stop(std::move(stop)) {}

bool InterruptibleInput::wait() const {
  constexpr int kPeriod = 50;  // milliseconds: soon for a person, rare for the processor
  while (!m_stop.stop_requested()) {
    pollfd ready{.fd = m_descriptor, .events = POLLIN, .revents = 0};
    // What cannot be polled, such as a plain file on some systems, is read at once.
    if (poll(&ready, 1, kPeriod) != 0) return true;
  }
  return false;
}

InterruptibleInput::int_type InterruptibleInput::underflow() {
  if (!wait()) return traits_type::eof();
  ssize_t count = 0;
  do {
    count = read(m_descriptor, m_buffer.data(), m_buffer.size());
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return traits_type::eof();
  setg(m_buffer.data(), m_buffer.data(), m_buffer.data() + count);
  return traits_type::to_int_type(*gptr());
}

}  // namespace spanscope::cli
