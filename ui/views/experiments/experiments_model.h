// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of experiments says: of the one that is chosen what it is, and of the one that runs or has
// run its table, its lines and its remarks.
#pragma once

#include "ui/session/experiment_run.h"
#include "ui/session/view_input.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

struct ExperimentPlace {
  double x = 0;
  double value = 0;
  double low = 0;
  double high = 0;
  QString text;  ///< for the tool tip and for screen readers
  bool operator==(const ExperimentPlace&) const = default;
};

struct ExperimentLine {
  QString name;
  std::vector<ExperimentPlace> places;  ///< ascending
  bool operator==(const ExperimentLine&) const = default;
};

struct ExperimentsModel {
  bool isRunning = false;  ///< some experiment is
  bool isKnown = false;    ///< the chosen one runs or has run
  double progress = 0;
  QString doing;
  QString setup;  ///< what it was measured on
  QStringList remarks;
  bool isProblem = false;  ///< the first remark says what went wrong
  QStringList measures;    ///< that may be drawn, of the chosen experiment
  std::size_t measure = 0;
  QString title;
  QString xName;
  QString yName;
  bool isXLogarithmic = false;
  bool isYLogarithmic = false;
  QStringList columns;
  std::vector<QStringList> rows;
  std::vector<ExperimentLine> lines;
  bool operator==(const ExperimentsModel&) const = default;
};

/// `name`: of the experiment that is chosen; `measure`: of its measures the one that is drawn.
ExperimentsModel experimentsModel(const ViewInput& input, const QString& name, std::size_t measure);

/// The table with tabs, for the clipboard.
QString experimentText(const ExperimentsModel& model);

}  // namespace spanscope::ui
