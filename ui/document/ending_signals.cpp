// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/ending_signals.h"

#include <QSocketNotifier>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace spanscope::ui {
namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP};

/// The end that the handler writes to. A handler is given nothing but the number of its signal.
std::atomic<int> writingEnd = -1;
static_assert(std::atomic<int>::is_always_lock_free);

/// Does no more than a handler may.
void tellLoop(int signal) {
  const int error = errno;
  const auto number = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t written = ::write(writingEnd.load(), &number, 1);
  errno = error;
}

}  // namespace

struct EndingSignals::Previous {
  int signal = 0;
  struct sigaction action {};
};

EndingSignals::EndingSignals(QObject* parent) : QObject(parent) {
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) return;
  m_reading = ends[0];
  writingEnd = ends[1];
  auto* notifier = new QSocketNotifier(m_reading, QSocketNotifier::Read, this);
  connect(notifier, &QSocketNotifier::activated, this, &EndingSignals::take);
  for (const int signal : kSignals) {
    Previous previous{.signal = signal};
    if (::sigaction(signal, nullptr, &previous.action) != 0 || previous.action.sa_handler == SIG_IGN)
      continue;
    struct sigaction action {};
    action.sa_handler = tellLoop;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    if (::sigaction(signal, &action, nullptr) == 0) m_previous.push_back(previous);
  }
}

EndingSignals::~EndingSignals() {
  for (const Previous& previous : m_previous) ::sigaction(previous.signal, &previous.action, nullptr);
  if (m_reading < 0) return;
  ::close(writingEnd.exchange(-1));
  ::close(m_reading);
}

void EndingSignals::take() {
  unsigned char number = 0;
  while (::read(m_reading, &number, 1) == 1) Q_EMIT received(number);
}

}  // namespace spanscope::ui
