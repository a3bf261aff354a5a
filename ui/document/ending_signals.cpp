// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/ending_signals.h"

#include <QSocketNotifier>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace spanscope::ui {
namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP};

/// The end of the pipe that the handler writes to. The variable is global, because a handler gets only the
/// number of its signal.
std::atomic<int> writingEnd = -1;
static_assert(std::atomic<int>::is_always_lock_free);

/// A system timer that sends a signal again. Each signal in kSignals has a timer. The handler reads the
/// timers, so the timers are made before the handler is installed.
struct Deadline {
  timer_t timer{};
  std::atomic<bool> isSet = false;
};
std::array<Deadline, kSignals.size()> deadlines;
itimerspec deadlineTime{};

/// Calls only functions that are safe in a signal handler.
void tellLoop(int signal) {
  const int error = errno;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal && deadlines[i].isSet)
      ::timer_settime(deadlines[i].timer, 0, &deadlineTime, nullptr);
  }
  const auto number = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t written = ::write(writingEnd.load(), &number, 1);
  errno = error;
}

}  // namespace

struct EndingSignals::Previous {
  int signal = 0;
  struct sigaction action {};
};

EndingSignals::EndingSignals(std::chrono::milliseconds deadline, QObject* parent) : QObject(parent) {
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) return;
  m_reading = ends[0];
  writingEnd = ends[1];
  makeDeadlines(deadline);
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
  for (Deadline& deadline : deadlines) {
    itimerspec left{};
    // A running timer stays. The timer ends the program if the rest of the shutdown takes too long.
    if (deadline.isSet.exchange(false) && ::timer_gettime(deadline.timer, &left) == 0 &&
        left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0)
      ::timer_delete(deadline.timer);
  }
  if (m_reading < 0) return;
  ::close(writingEnd.exchange(-1));
  ::close(m_reading);
}

void EndingSignals::makeDeadlines(std::chrono::milliseconds deadline) {
  if (deadline <= std::chrono::milliseconds::zero()) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(deadline);
  deadlineTime.it_value.tv_sec = static_cast<std::time_t>(seconds.count());
  deadlineTime.it_value.tv_nsec =
      static_cast<long>(std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - seconds).count());
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigevent event {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = kSignals[i];
    deadlines[i].isSet = ::timer_create(CLOCK_MONOTONIC, &event, &deadlines[i].timer) == 0;
  }
}

void EndingSignals::take() {
  unsigned char number = 0;
  while (::read(m_reading, &number, 1) == 1) Q_EMIT received(number);
}

}  // namespace spanscope::ui
