// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace spanscope::testing {

namespace {

/// Error in units of the tolerance; infinite where either is not a number.
double excess(double actual, double expected, double tolerance) {
  if (actual == expected) return 0;
  const double error = std::abs(actual - expected);
  if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
  return tolerance > 0 ? error / tolerance : std::numeric_limits<double>::infinity();
}

}  // namespace

std::string Comparison::text() const {
  std::ostringstream out;
  out.precision(9);
  out << "element " << worst << ": " << actual << ", expected " << expected << ", off by "
      << std::abs(actual - expected) << ", tolerance " << tolerance;
  return out.str();
}

Comparison compareRows(std::span<const float> actual, std::span<const float> expected, std::size_t columns,
                       double relative) {
  Comparison result;
  if (actual.size() != expected.size() || columns == 0 || expected.size() % columns != 0) {
    result.ok = false;
    result.actual = static_cast<double>(actual.size());
    result.expected = static_cast<double>(expected.size());
    return result;
  }
  double worst = -1;
  for (std::size_t first = 0; first < expected.size(); first += columns) {
    double largest = 0;
    for (const float value : expected.subspan(first, columns)) {
      largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    const double tolerance = relative * largest;
    for (std::size_t i = first; i < first + columns; ++i) {
      const double measured =
          excess(static_cast<double>(actual[i]), static_cast<double>(expected[i]), tolerance);
      if (measured <= worst) continue;
      worst = measured;
      result = {measured <= 1, i, static_cast<double>(actual[i]), static_cast<double>(expected[i]),
                tolerance};
    }
  }
  return result;
}

Comparison compareAbsolute(std::span<const float> actual, std::span<const float> expected, double tolerance) {
  Comparison result;
  if (actual.size() != expected.size()) {
    result.ok = false;
    result.actual = static_cast<double>(actual.size());
    result.expected = static_cast<double>(expected.size());
    return result;
  }
  double worst = -1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double measured =
        excess(static_cast<double>(actual[i]), static_cast<double>(expected[i]), tolerance);
    if (measured <= worst) continue;
    worst = measured;
    result = {measured <= 1, i, static_cast<double>(actual[i]), static_cast<double>(expected[i]), tolerance};
  }
  return result;
}

double relativeError(std::span<const float> actual, std::span<const float> expected) {
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto wanted = static_cast<double>(expected[i]);
    error += (static_cast<double>(actual[i]) - wanted) * (static_cast<double>(actual[i]) - wanted);
    size += wanted * wanted;
  }
  return std::sqrt(error / size);
}

double norm(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

double dotTolerance(std::size_t terms, double normLeft, double normRight, double unit) {
  return unit * (4.0 + 4.0 * std::sqrt(static_cast<double>(terms))) * normLeft * normRight;
}

}  // namespace spanscope::testing
