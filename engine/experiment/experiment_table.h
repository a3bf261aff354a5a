// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment found, as a table and as comma-separated values.
#pragma once

#include "engine/experiment/experiment.h"

#include <string>
#include <vector>

namespace spanscope::experiment {

/// A row a place, lines in the order in which they began, places ascending: line, x, with a second axis y,
/// repeats, and of each
/// measure median and spread ("2.1 … 2.6", from quartile to quartile, of fewer than five repeats from least
/// to most).
struct ExperimentTable {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};
ExperimentTable experimentTable(const ExperimentResult& result);

/// Everything, for other programs: a line a place and measure with its figure, spread, every sample, and
/// what it was measured on; header line first.
std::string experimentCsv(const ExperimentResult& result);

/// The points in the order of the table.
std::vector<const ExperimentPoint*> sortedPoints(const ExperimentResult& result);

/// What is said of one measure of a point.
struct Figure {
  double value = 0;
  double low = 0;  ///< of its spread
  double high = 0;
  std::size_t samples = 0;
  bool operator==(const Figure&) const = default;
};
Figure figureOf(const ExperimentPoint& point, std::size_t index, const Measure& measure);

/// "SmolLM2-135M, AMD EPYC, AVX3, 2 threads; 5 repeats, seed 0; words 100": what it was measured on.
std::string experimentSetup(const ExperimentResult& result);

}  // namespace spanscope::experiment
