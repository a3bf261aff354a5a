// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/descriptor_output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace spanscope::cli {

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
      // Whoever shares the descriptor may have asked for that.
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

}  // namespace spanscope::cli
