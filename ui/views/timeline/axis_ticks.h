// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace spanscope::ui {

/// At most `most` + 1 round numbers within a range, ascending. Their distance is 1, 2 or 5 times a power of
/// ten.
std::vector<double> axisTicks(double begin, double end, int most);

/// The text of a tick on an axis of milliseconds: in seconds if the ticks are a second or more apart.
QString axisTickText(double milliseconds, double step);

}  // namespace spanscope::ui
