// SPDX-License-Identifier: GPL-3.0-or-later
// The formats of engine/metrics/format.h as strings of Qt.
#pragma once

#include "ui/words/part_text.h"

#include <QString>
#include <QStringList>

namespace spanscope::ui {

/// "0.27 ms", "3.1 ms", "120 ms", "1.25 s"
QString durationText(double seconds);
/// "812", "12 k", "3.1 M"
QString countText(double value);
/// How a number changed: "▼ 15×" if it fell to a fifteenth, "▲ +12 %", "= same". Empty if one of the numbers
/// is not above 0, so that the numbers cannot be compared.
QString changeText(double now, double before);

/// A number with up to nine significant digits and a decimal point in every language.
QString csvNumber(double value);

/// One line of comma-separated values with its line end. Fields are quoted where RFC 4180 requires it.
QString csvLine(const QStringList& fields);

}  // namespace spanscope::ui
