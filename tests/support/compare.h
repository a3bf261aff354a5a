// SPDX-License-Identifier: GPL-3.0-or-later
// Compares results of a backend with a reference: finds the worst element, and gives tolerances that follow
// from the operands.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace spanscope::testing {

/// The worst element of two arrays, measured in units of its tolerance.
struct Comparison {
  bool ok = true;  ///< every element is within its tolerance; NaN or another size is never ok
  std::size_t worst = 0;
  double actual = 0;
  double expected = 0;
  double tolerance = 0;  ///< of the worst element

  /// "element 12: 0.51, expected 0.5, off by 1e-2, tolerance 1e-5"
  std::string text() const;
};

/// Compares element by element with one tolerance for all.
Comparison compareAbsolute(std::span<const float> actual, std::span<const float> expected, double tolerance);

/// Compares rows of `columns` elements. The tolerance of a row is `relative` times the largest |expected| in
/// it.
Comparison compareRows(std::span<const float> actual, std::span<const float> expected, std::size_t columns,
                       double relative);

/// The norm of the difference divided by the norm of `expected`; infinite if the sizes differ.
double relativeError(std::span<const float> actual, std::span<const float> expected);

/// √Σx².
double norm(std::span<const float> values);

/// How far a sum of `terms` products may be off if it was accumulated in a type with unit round-off `unit`
/// (2⁻²⁴ for f32). The rounding errors of a chain grow as the square root of its length. Each error is at
/// most `unit` times the partial sum, and the norms of the operands bound that sum. The result has some room,
/// so that a correct kernel never fails.
double dotTolerance(std::size_t terms, double normLeft, double normRight, double unit = 0x1p-24);

}  // namespace spanscope::testing
