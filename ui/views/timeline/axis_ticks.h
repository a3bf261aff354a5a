// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace spanscope::ui {

/// At most `most` + 1 round numbers within a range, ascending. Their distance is 1, 2 or 5 times a power of
/// ten.
std::vector<double> axisTicks(double begin, double end, int most);

}  // namespace spanscope::ui
