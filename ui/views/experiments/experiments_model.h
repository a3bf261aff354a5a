// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of experiments says: of the one that is chosen what it is, and of the one that runs or has
// run its table, its lines and its remarks.
#pragma once

#include "engine/experiment/chart.h"
#include "engine/experiment/experiment_chart.h"
#include "ui/session/measure_requests.h"
#include "ui/session/view_input.h"
#include "ui/views/common/table_painting.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct ExperimentsModel {
  bool isRunning = false;  ///< some experiment is
  bool isKnown = false;    ///< the chosen one runs or has run
  double progress = 0;
  QString doing;  ///< and how long the rest takes
  QString setup;  ///< what it was measured on
  QStringList remarks;
  bool isProblem = false;  ///< the first remark says what went wrong
  QStringList measures;    ///< that may be drawn, of the chosen experiment
  std::size_t measure = 0;
  QString title;
  QString xName;
  QString rowName;  ///< of the second axis; empty: there is none
  QString yName;    ///< of what is drawn
  PaintedTable table;
  std::vector<experiment::ChartKind> kinds;  ///< in which it can be drawn
  experiment::ChartKind kind = experiment::ChartKind::Lines;
  std::vector<double> places;  ///< that histograms may be of
  std::optional<double> place;
  experiment::Chart chart;  ///< of this kind, its words in the language of the window
  bool operator==(const ExperimentsModel&) const = default;
};

/// Form of the chart, as far as a person has chosen.
struct ExperimentLook {
  std::size_t measure = 0;
  std::optional<experiment::ChartKind> kind{};
  std::optional<double> place{};
};

/// `name`: of the experiment that is chosen.
ExperimentsModel experimentsModel(const ViewInput& input, const QString& name, const ExperimentLook& look);

/// "Lines", "Heat map", "Histograms"
QString chartKindTitle(experiment::ChartKind kind);

/// The table with tabs, for the clipboard.
QString experimentText(const ExperimentsModel& model);

}  // namespace spanscope::ui
