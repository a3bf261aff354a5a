// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as a person reads them.
#pragma once

#include <QString>

#include <cstdint>

namespace spanscope::ui {

/// "0.27 ms", "3.1 ms", "120 ms", "1.25 s"
QString durationText(double seconds);
/// "86 %"; "–" where the whole is 0.
QString shareText(std::int64_t part, std::int64_t whole);
/// "812", "12.4 k"
QString countText(double value);
/// How a number stands to the one before: "▼ 14.8×" where it fell to a fifteenth, "▲ +12 %", "= same"; empty
/// where there is nothing to compare with.
QString changeText(double now, double before);

/// A number with all its digits, with a point in every language.
QString csvNumber(double value);

}  // namespace spanscope::ui
