// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainterPath>

#include <string_view>

namespace spanscope::ui {

/// The sign of an operator, to be stroked, in a square of 16 × 16 from the origin.
QPainterPath operatorIcon(std::string_view op);

}  // namespace spanscope::ui
