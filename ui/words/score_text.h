// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cmath>

namespace spanscope::ui {

/// The score of a fragment as every view shows it: "8.25", "0.457", "0.0164". Small scores need four
/// decimals, because fused ranks (1/61, 1/62, …) differ only in the fourth.
inline QString scoreText(double score) {
  const double size = std::abs(score);
  return QString::number(score, 'f', size >= 1 ? 2 : size >= 0.1 ? 3 : 4);
}

}  // namespace spanscope::ui
