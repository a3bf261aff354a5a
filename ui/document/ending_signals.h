// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <chrono>
#include <memory>
#include <vector>

namespace spanscope::ui {

/// Notifies the event loop that the system asks the program to end: SIGTERM (logging out), SIGINT and SIGHUP.
/// Each signal is reported once. The next signal of that kind ends the program as usual, even if the program
/// hangs. With a deadline, a timer of the system sends that next signal. A signal that is ignored when this
/// object is made (SIGHUP under nohup) stays ignored. At most one such object may exist. The destructor
/// restores the earlier signal handlers.
class EndingSignals final : public QObject {
  Q_OBJECT
 public:
  /// If the system has no two free file descriptors, this object reports nothing. `deadline`: the program
  /// ends within this time after a signal, even if its event loop or its destructors hang. Zero means no
  /// deadline. A running deadline continues after the end of this object.
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
