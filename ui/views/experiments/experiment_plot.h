// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/plot_library.h"
#include "ui/views/experiments/experiments_model.h"

#include <QWidget>

#include <optional>

namespace spanscope::ui {

/// The lines of an experiment with the spread of each place; lines differ by colour, dash and mark.
class ExperimentPlot : public QWidget {
  Q_OBJECT
 public:
  explicit ExperimentPlot(QWidget* parent = nullptr);

  void setContent(const ExperimentsModel& model, const Theme& theme);
  void paint(QPainter& painter, const QRect& area);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void rebuild();
  void addLine(const ExperimentLine& line, int index);
  void setAxes();

  ExperimentsModel m_model;
  std::optional<Theme> m_theme;
  QCustomPlot* m_plot;
};

}  // namespace spanscope::ui
