// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <memory>
#include <vector>

namespace spanscope::document {

/// Tells the event loop that the system asks the program to end: SIGTERM (logging out), SIGINT and SIGHUP. A
/// signal is told once; the next of its kind ends the program as it ends any, so that one that hangs can be
/// ended, too. What is ignored when this is made (SIGHUP under nohup) stays so. There is one at a time; when
/// it goes, signals do what they did before.
class EndingSignals final : public QObject {
  Q_OBJECT
 public:
  /// Nothing is ever told where the system has no room for two more descriptors.
  explicit EndingSignals(QObject* parent = nullptr);
  ~EndingSignals() override;

 Q_SIGNALS:
  void received(int signal);

 private:
  void take();

  struct Previous;
  std::vector<Previous> m_previous;
  int m_reading = -1;
};

}  // namespace spanscope::document
