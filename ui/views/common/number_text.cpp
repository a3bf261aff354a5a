// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/number_text.h"

#include "ui/words/tr.h"

#include <cmath>

namespace spanscope::ui {
namespace {

/// Writes a number with two to three significant digits.
QString shortNumber(double value) {
  const double size = std::abs(value);
  return QString::number(value, 'f', size < 1 ? 2 : size < 10 ? 1 : 0);
}

}  // namespace

QString durationText(double seconds) {
  if (std::abs(seconds) >= 1)
    return tr("%1 s").arg(QString::number(seconds, 'f', std::abs(seconds) < 100 ? 2 : 0));
  return tr("%1 ms").arg(shortNumber(seconds * 1000));
}

QString shareText(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return QStringLiteral("–");
  auto percent = std::lround(100.0 * static_cast<double>(part) / static_cast<double>(whole));
  // Only a whole is 100 % and only nothing is 0 %: other shares are rounded to 1 … 99.
  if (percent >= 100 && part < whole) percent = 99;
  if (percent <= 0 && part > 0) percent = 1;
  return tr("%1\u00A0%").arg(percent);
}

QString countText(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) return tr("%1 M").arg(shortNumber(value / 1e6));
  if (size >= 1e4) return tr("%1 k").arg(shortNumber(value / 1e3));
  return QString::number(value, 'f', size < 10 && value != std::round(value) ? 1 : 0);
}

QString changeText(double now, double before) {
  if (now == before) return tr("= same");
  if (before <= 0 || now <= 0) return {};
  const QString arrow = now < before ? QStringLiteral("▼") : QStringLiteral("▲");
  const double ratio = now < before ? before / now : now / before;
  if (ratio >= 1.995) return tr("%1 %2×").arg(arrow, shortNumber(ratio));
  const double percent = std::round(100 * (now - before) / before);
  if (percent == 0) return tr("= same");
  return tr("%1 %2%3 %")
      .arg(arrow, percent > 0 ? QStringLiteral("+") : QStringLiteral("−"),
           QString::number(std::abs(percent), 'f', 0));
}

QString csvNumber(double value) {
  return QString::number(value, 'g', 9);
}

}  // namespace spanscope::ui
