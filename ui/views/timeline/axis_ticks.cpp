// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/axis_ticks.h"

#include "ui/words/tr.h"

#include <cmath>

namespace spanscope::ui {

std::vector<double> axisTicks(double begin, double end, int most) {
  if (!(end > begin) || most < 1) return {};
  const double rough = (end - begin) / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.9999999) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  const auto first = static_cast<long long>(std::ceil(begin / step - 1e-9));
  const auto last = static_cast<long long>(std::floor(end / step + 1e-9));
  for (long long i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

QString axisTickText(double milliseconds, double step) {
  constexpr double kSecond = 1000;
  const auto number = [](double value) { return QString::number(value, 'g', 9); };
  return step >= kSecond * (1 - 1e-9) ? tr("%1 s").arg(number(milliseconds / kSecond))
                                      : tr("%1 ms").arg(number(milliseconds));
}

}  // namespace spanscope::ui
