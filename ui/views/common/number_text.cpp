// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/number_text.h"

#include "engine/metrics/format.h"

namespace spanscope::ui {

QString durationText(double seconds) {
  return QString::fromStdString(metrics::durationText(seconds));
}

QString countText(double value) {
  return QString::fromStdString(metrics::countText(value));
}

QString changeText(double now, double before) {
  return QString::fromStdString(metrics::changeText(now, before));
}

QString csvNumber(double value) {
  return QString::fromStdString(metrics::exactNumber(value));
}

}  // namespace spanscope::ui
