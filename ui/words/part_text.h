// SPDX-License-Identifier: GPL-3.0-or-later
// Writes parts of a whole. A part that is not zero never reads as zero, and one that is not all never as all.
#pragma once

#include "engine/trace/line_pieces.h"

#include <QString>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace spanscope::ui {

/// A part of a whole in percent without the sign: "86", "<1", ">99"; "–" if the whole is 0.
inline QString shareNumber(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return QStringLiteral("–");
  return QString::fromStdString(trace::shareNumber(static_cast<double>(part) / static_cast<double>(whole)));
}

/// The same with its sign: "86 %", "<1 %", ">99 %", "–".
inline QString shareText(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? QStringLiteral("–") : shareNumber(part, whole) + QStringLiteral("\u00A0%");
}

/// From here on a part counts as the whole, because sums of floats come out a little below 1.
inline constexpr double kWholePart = 1 - 1e-5;

/// The number of decimal places with which a number below 100 has two significant figures.
inline int decimalsForTwoFigures(double value) {
  const double size = std::abs(value);
  // 9.96 reads as 10, not as 10.0.
  const double rounded = size > 0 ? size * (10 / 9.95) : 1;
  return std::max(0, 1 - static_cast<int>(std::floor(std::log10(rounded))));
}

/// "31 %", "3.1 %", "0.12 %", "<0.1 %". Only nothing is "0 %", and only the whole is "100 %".
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

/// "0.31", "0.0012", "<0.0001". Only nothing is "0", and only the whole is "1".
inline QString massText(double mass) {
  constexpr double kSmallest = 1e-4;
  constexpr double kMost = 0.995;
  if (mass <= 0) return QStringLiteral("0");
  if (mass < kSmallest) return QStringLiteral("<0.0001");
  if (mass >= kWholePart) return QStringLiteral("1");
  return mass >= kMost ? QStringLiteral(">0.99") : QString::number(mass, 'f', decimalsForTwoFigures(mass));
}

/// The score of a fragment as every view shows it: "8.25", "0.457", "0.0164". Small scores need four
/// decimals, because fused ranks (1/61, 1/62, …) differ only in the fourth.
inline QString scoreText(double score) {
  const double size = std::abs(score);
  return QString::number(score, 'f', size >= 1 ? 2 : size >= 0.1 ? 3 : 4);
}

}  // namespace spanscope::ui
