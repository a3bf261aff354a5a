// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace spanscope::ui {

/// At most `most` + 1 round numbers (1, 2, 5 × a power of ten apart) within a range, ascending.
std::vector<double> axisTicks(double begin, double end, int most);

}  // namespace spanscope::ui
