// SPDX-License-Identifier: GPL-3.0-or-later
// The results of an experiment as a table and as comma-separated values.
#pragma once

#include "engine/experiment/chart.h"
#include "engine/experiment/experiment.h"

#include <string>
#include <vector>

namespace spanscope::experiment {

/// One row per place. Lines are in the order in which they began, places ascending. The columns are line, x,
/// y (with a second axis), repeats, and for each measure median and spread ("2.1 … 2.6": the quartiles, or,
/// for fewer than five repeats, least and most).
struct ExperimentTable {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};
ExperimentTable experimentTable(const ExperimentResult& result);

/// All results, for other programs. A header line comes first. Then there is one line per place and measure,
/// with its figure, its spread, every sample, and the setup.
std::string experimentCsv(const ExperimentResult& result);

/// The points in the order of the table.
std::vector<const ExperimentPoint*> sortedPoints(const ExperimentResult& result);

/// What is said of one measure of a point.
Figure figureOf(const ExperimentPoint& point, std::size_t index, const Measure& measure);

/// The setup of the measurement: "SmolLM2-135M, AMD EPYC, AVX-512, 2 threads; 5 repeats, seed 0; words 100".
std::string experimentSetup(const ExperimentResult& result);

}  // namespace spanscope::experiment
