// SPDX-License-Identifier: GPL-3.0-or-later
// The costs of a log as bars: causes, ways to send the log, and distances to the reused requests.
#pragma once

#include "ui/session/log_diagnosis.h"
#include "ui/views/common/input_view.h"
#include "ui/views/diagnosis/log_bars.h"

#include <memory>
#include <vector>

class QLabel;
class QProgressBar;
class QPushButton;
class QSpinBox;

namespace spanscope::ui {

/// The groups of bars of a log. A group without bars is left out.
std::vector<LogBarGroup> logBarsOf(const LogState& state);

/// The state of the measurement of quality, for the controls of the dock.
struct LogQualityState {
  bool isPossible = false;  ///< the diagnosis is complete
  bool isRunning = false;
  double progress = 0;  ///< 0 … 1
  QString doing{};      ///< what the measurement does now, or why it stopped; may be empty
  bool operator==(const LogQualityState&) const = default;
};
LogQualityState logQualityOf(const ViewInput& input);

class LogCostsView : public InputView {
  Q_OBJECT
 public:
  explicit LogCostsView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;
  const LogBars& bars() const { return *m_bars; }

 protected:
  void refresh() override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QWidget* makeControls();
  void showQuality();

  QWidget* m_controls = nullptr;
  QSpinBox* m_requests = nullptr;
  QPushButton* m_measure = nullptr;
  QLabel* m_doing = nullptr;
  QProgressBar* m_progress = nullptr;
  LogBars* m_bars;
  bool m_isMeasuring = false;
};

}  // namespace spanscope::ui
