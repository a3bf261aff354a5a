// SPDX-License-Identifier: GPL-3.0-or-later
// Writes shares of a whole as texts. A share above 0 never reads "0", and a share below the whole never reads
// as the whole.
#pragma once

#include "engine/trace/line_pieces.h"

#include <QString>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace spanscope::ui {

/// Returns a share in percent without the percent sign: "86", "<1", ">99"; "–" if the whole is 0.
inline QString shareNumber(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return QStringLiteral("–");
  return QString::fromStdString(trace::shareNumber(static_cast<double>(part) / static_cast<double>(whole)));
}

/// Returns the same text with the percent sign: "86 %", "<1 %", ">99 %", "–".
inline QString shareText(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? QStringLiteral("–") : shareNumber(part, whole) + QStringLiteral("\u00A0%");
}

/// A share from this value on counts as the whole, because rounding errors make sums a little smaller than 1.
inline constexpr double kWholePart = 1 - 1e-5;

/// Returns the number of decimal places that gives a number below 100 two significant digits.
inline int decimalsForTwoFigures(double value) {
  const double size = std::abs(value);
  // 9.96 reads as 10, not as 10.0.
  const double rounded = size > 0 ? size * (10 / 9.95) : 1;
  return std::max(0, 1 - static_cast<int>(std::floor(std::log10(rounded))));
}

/// Returns a share from 0 to 1 in percent: "31 %", "3.1 %", "0.12 %", "<0.1 %". Only 0 gives "0 %", and only
/// the whole gives "100 %".
inline QString partText(double part) {
  const double percent = 100 * part;
  constexpr double kSmallest = 0.1;
  constexpr double kMost = 99.5;
  QString text = QString::number(percent, 'f', decimalsForTwoFigures(percent));
  if (part <= 0) {
    text = QStringLiteral("0");
  } else if (percent < kSmallest) {
    text = QStringLiteral("<0.1");
  } else if (part >= kWholePart) {
    text = QStringLiteral("100");
  } else if (percent >= kMost) {
    text = QStringLiteral(">99");
  }
  return text + QStringLiteral("\u00A0%");
}

/// Returns an attention mass from 0 to 1: "0.31", "0.0012", "<0.0001". Only 0 gives "0", and only the whole
/// gives "1".
inline QString massText(double mass) {
  constexpr double kSmallest = 1e-4;
  constexpr double kMost = 0.995;
  if (mass <= 0) return QStringLiteral("0");
  if (mass < kSmallest) return QStringLiteral("<0.0001");
  if (mass >= kWholePart) return QStringLiteral("1");
  return mass >= kMost ? QStringLiteral(">0.99") : QString::number(mass, 'f', decimalsForTwoFigures(mass));
}

/// Returns the score of a passage for all views: "8.25", "0.457", "0.0164". Small scores get four decimals,
/// because fused ranks (1/61, 1/62, …) differ only in the fourth decimal.
inline QString scoreText(double score) {
  const double size = std::abs(score);
  return QString::number(score, 'f', size >= 1 ? 2 : size >= 0.1 ? 3 : 4);
}

}  // namespace spanscope::ui
