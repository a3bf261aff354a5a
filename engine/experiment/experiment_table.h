// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the results of an experiment as a table and as comma-separated values. Open this file to add a
// column.
#pragma once

#include "engine/experiment/chart.h"
#include "engine/experiment/experiment.h"

#include <string>
#include <vector>

namespace spanscope::experiment {

/// One row per place. Lines are in the order of their beginnings, with places ascending. The columns are
/// line, x, y (with a second axis) and repeats. Each measure has median and spread ("2.1 … 2.6"). The spread
/// is the quartiles or, for fewer than five repeats, min and max.
struct ExperimentTable {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};
ExperimentTable experimentTable(const ExperimentResult& result);

/// Returns all results, for other programs. After a header line there is one line per place and measure. Each
/// line has the metric, its spread, every sample, and the setup.
std::string experimentCsv(const ExperimentResult& result);

/// Returns the points in the order of the table.
std::vector<const ExperimentPoint*> sortedPoints(const ExperimentResult& result);

/// Returns the summary of one measure of a point.
ChartNumber valueOf(const ExperimentPoint& point, std::size_t index, const Measure& measure);

/// Returns the setup of the measurement: model, device, threads, repeats, seed and settings.
std::string experimentSetup(const ExperimentResult& result);

}  // namespace spanscope::experiment
