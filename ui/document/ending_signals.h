// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <chrono>
#include <memory>
#include <vector>

namespace spanscope::ui {

/// Tells the event loop that the system asks the program to end: SIGTERM (logging out), SIGINT and SIGHUP.
/// Each signal is told once. The next signal of that kind ends the program as usual, so that a program that
/// hangs can be ended too. With a deadline, the system sends that next signal by itself. A signal that is
/// ignored when this object is made (SIGHUP under nohup) stays ignored. At most one such object may exist.
/// Its destructor restores what the signals did before.
class EndingSignals final : public QObject {
  Q_OBJECT
 public:
  /// If the system has no room for two more file descriptors, this object tells nothing. `deadline`: the time
  /// after a signal within which the program ends, even if its event loop or its destructors hang; zero:
  /// there is none. A deadline that runs is kept beyond the end of this object.
  explicit EndingSignals(std::chrono::milliseconds deadline = {}, QObject* parent = nullptr);
  ~EndingSignals() override;

 Q_SIGNALS:
  void received(int signal);

 private:
  void take();
  void makeDeadlines(std::chrono::milliseconds deadline);

  struct Previous;
  std::vector<Previous> m_previous;
  int m_reading = -1;
};

}  // namespace spanscope::ui
