// SPDX-License-Identifier: GPL-3.0-or-later
// The content of the experiments page: the chosen experiment, and the table, the chart and the remarks of its
// run.
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
  bool isRunning = false;  ///< an experiment is running
  bool isKnown = false;    ///< the chosen experiment runs or has run
  double progress = 0;
  QString doing;  ///< the current action and the time left
  QString setup;  ///< the conditions of the measurement
  QStringList remarks;
  bool isProblem = false;  ///< the first remark is an error
  QStringList measures;    ///< measures of the chosen experiment that a chart can show
  std::size_t measure = 0;
  QString title;
  QString xName;
  QString rowName;  ///< name of the second axis; empty: there is none
  QString yName;    ///< name of the shown measure
  PaintedTable table;
  std::vector<experiment::ChartKind> kinds;  ///< the possible kinds of chart
  experiment::ChartKind kind = experiment::ChartKind::Lines;
  std::vector<double> places;  ///< the places that have histograms
  std::optional<double> place;
  experiment::Chart chart;  ///< of this kind, in the language of the window
  bool operator==(const ExperimentsModel&) const = default;
};

/// The options of the chart that the user has chosen.
struct ExperimentLook {
  std::size_t measure = 0;
  std::optional<experiment::ChartKind> kind{};
  std::optional<double> place{};
};

/// `name`: of the chosen experiment.
ExperimentsModel experimentsModel(const ViewInput& input, const QString& name, const ExperimentLook& look);

/// "Lines", "Heat map", "Histograms"
QString chartKindTitle(experiment::ChartKind kind);

/// The table with tabs, for the clipboard.
QString experimentText(const ExperimentsModel& model);

}  // namespace spanscope::ui
