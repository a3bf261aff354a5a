// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_model.h"

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

/// The most decades that a logarithmic scale shows.
constexpr double kDecades = 4;

/// Rounds up to the next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten.
double roundUp(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (value <= step * power * 1.0000001) return step * power;
  }
  return 10 * power;
}

/// The largest mass of a row among the cells that count for a scale.
double highestOf(const AttentionModel& model, std::int32_t row) {
  double highest = 0;
  const bool answer = model.rowSet == AttentionRowSet::Answer;
  for (const AttentionSegment& segment : model.segments) {
    if (answer && &segment == &model.segments.back()) break;
    for (std::int32_t column = segment.firstColumn; column < segment.firstColumn + segment.columns;
         ++column) {
      if (answer && column == model.sinkColumn) continue;
      highest = std::max(highest, static_cast<double>(model.mass[model.at(row, column)]));
    }
  }
  return highest;
}

}  // namespace

AttentionShades attentionShades(const AttentionModel& model, AttentionScale scale) {
  AttentionShades result;
  result.shades.assign(model.mass.size(), 0.0F);
  result.top = roundUp(static_cast<double>(model.highest));
  if (scale == AttentionScale::ByRow) result.top = 1;
  if (scale == AttentionScale::Logarithmic) {
    // The scale covers whole decades, so that its numbers are powers of ten.
    result.top = std::min(1.0, std::pow(10, std::ceil(std::log10(result.top) - 1e-9)));
    const double lowest = model.lowest > 0 ? static_cast<double>(model.lowest) : result.top / 10;
    const double decade = std::pow(10, std::floor(std::log10(lowest) + 1e-9));
    result.bottom = std::clamp(decade, result.top / std::pow(10, kDecades), result.top / 10);
  }
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(model.rows.size()); ++row) {
    const double highest = scale == AttentionScale::ByRow ? highestOf(model, row) : 0;
    for (std::int32_t column = 0; column < model.columns; ++column) {
      const std::size_t cell = model.at(row, column);
      const auto mass = static_cast<double>(model.mass[cell]);
      if (model.states[cell] != CellState::Measured || mass <= 0) continue;
      double shade = mass / result.top;
      if (scale == AttentionScale::ByRow) shade = highest > 0 ? mass / highest : 1;
      if (scale == AttentionScale::Logarithmic)
        shade = std::log(mass / result.bottom) / std::log(result.top / result.bottom);
      result.shades[cell] = static_cast<float>(std::clamp(shade, 0.0, 1.0));
    }
  }
  return result;
}

}  // namespace spanscope::ui
