// SPDX-License-Identifier: GPL-3.0-or-later
// The times to load stored blocks and to compute these blocks on this machine. The experiment "load" measures
// the times. The settings keep the result of each model. Views show the result next to the tiers of the span
// store.
#pragma once

#include "engine/experiment/experiment.h"

#include <QDateTime>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

/// Median times in milliseconds until the logits after a document are available.
struct LoadTiming {
  std::int32_t tokens = 0;
  double computed = 0;
  double host = 0;
  double disk = 0;
  double coldDisk = 0;
  bool operator==(const LoadTiming&) const = default;
};

struct LoadComparison {
  std::string model;    ///< name of the model
  std::string machine;  ///< device and threads
  QDateTime measured;
  std::vector<LoadTiming> timings;  ///< ascending by tokens; at least one
  bool operator==(const LoadComparison&) const = default;

  /// The timing whose number of tokens is nearest to `tokens`.
  const LoadTiming& near(std::int32_t tokens) const;
};

struct LoadComparisons {
  std::map<std::string, LoadComparison> byModel;
};
/// Finds the comparisons among the measured jobs, as ExperimentJob finds its result.
struct LoadComparisonKind {
  static constexpr const char* kId = "load-comparison";
  using Result = LoadComparisons;
};

/// Returns nothing if the result belongs to another experiment, or if no length has all four times.
std::optional<LoadComparison> loadComparisonOf(const experiment::ExperimentResult& result,
                                               const QDateTime& measured);

/// Writes one line of JSON for each model, for the settings. readLoads() leaves out lines that it cannot
/// read.
QStringList loadTexts(const LoadComparisons& loads);
LoadComparisons readLoads(const QStringList& texts);

}  // namespace spanscope::ui
