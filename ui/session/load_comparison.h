// SPDX-License-Identifier: GPL-3.0-or-later
// What loading kept blocks took on this machine beside computing them, as the experiment "load" measured it:
// remembered by model, so that it can stand where the tiers of the span store are shown.
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

/// Medians of milliseconds until the logits behind a document are there.
struct LoadTiming {
  std::int32_t tokens = 0;
  double computed = 0;
  double host = 0;
  double disk = 0;
  double coldDisk = 0;
  bool operator==(const LoadTiming&) const = default;
};

struct LoadComparison {
  std::string model;    ///< its name
  std::string machine;  ///< device and threads
  QDateTime measured;
  std::vector<LoadTiming> timings;  ///< by tokens, at least one
  bool operator==(const LoadComparison&) const = default;

  /// The one nearest to so many tokens.
  const LoadTiming& near(std::int32_t tokens) const;
};

struct LoadComparisons {
  std::map<std::string, LoadComparison> byModel;
};

/// Nothing where it is of another experiment, or no length has all of its figures.
std::optional<LoadComparison> loadComparisonOf(const experiment::ExperimentResult& result,
                                               const QDateTime& measured);

/// A line each, for settings; what cannot be read is left out.
QStringList loadTexts(const LoadComparisons& loads);
LoadComparisons readLoads(const QStringList& texts);

}  // namespace spanscope::ui
