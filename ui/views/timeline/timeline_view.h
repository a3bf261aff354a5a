// SPDX-License-Identifier: GPL-3.0-or-later
// Shows one row for each request: when it waited, was loaded, computed and decoded.
#pragma once

#include "ui/views/common/run_view.h"
#include "ui/views/timeline/timeline_model.h"

#include <QPointer>

class QComboBox;

namespace spanscope::ui {

class TimelineCanvas;
class StateLegend;

class TimelineView : public RunView {
  Q_OBJECT
 public:
  explicit TimelineView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const TimelineModel& model() const { return m_model; }
  TimelineCanvas& canvas() { return *m_canvas; }
  void setAllRuns(bool all);

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void select(int row);

  TimelineModel m_model;
  bool m_allRuns = false;
  TimelineCanvas* m_canvas;
  QPointer<StateLegend> m_legend;
  QPointer<QComboBox> m_scope;
};

}  // namespace spanscope::ui
