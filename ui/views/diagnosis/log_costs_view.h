// SPDX-License-Identifier: GPL-3.0-or-later
// The costs of a log as bars: causes, ways to send the log, and distances to the reused requests.
#pragma once

#include "ui/session/log_diagnosis.h"
#include "ui/views/common/input_view.h"
#include "ui/views/diagnosis/log_bars.h"

#include <memory>
#include <vector>

namespace spanscope::ui {

/// The groups of bars of a log. A group without bars is left out.
std::vector<LogBarGroup> logBarsOf(const LogState& state);

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
  LogBars* m_bars;
};

}  // namespace spanscope::ui
