// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of experiments says: of the one that is chosen what it is, and of the one that runs or has
// run its table, its lines and its remarks.
#pragma once

#include "engine/experiment/experiment_maps.h"
#include "ui/session/experiment_run.h"
#include "ui/session/view_input.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <optional>
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
  QString rowName;  ///< of the second axis; empty: there is none
  QString yName;    ///< of what is drawn
  bool isXLogarithmic = false;
  bool isYLogarithmic = false;
  QStringList columns;
  std::vector<QStringList> rows;
  std::vector<experiment::ChartKind> kinds;  ///< in which it can be drawn
  experiment::ChartKind kind = experiment::ChartKind::Lines;
  std::vector<double> places;  ///< that histograms may be of
  std::optional<double> place;
  // Of these the one that is drawn.
  std::vector<ExperimentLine> lines;
  experiment::HeatMap heatMap;
  experiment::Histograms histograms;
  bool operator==(const ExperimentsModel&) const = default;
};

/// How it is drawn, as far as a person has chosen.
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
