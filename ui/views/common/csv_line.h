// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace spanscope::ui {

/// One line of comma-separated values with its line end. Fields are quoted where RFC 4180 requires it.
QString csvLine(const QStringList& fields);

}  // namespace spanscope::ui
