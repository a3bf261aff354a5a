// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace spanscope::ui {

/// One line of comma-separated values with its end; fields are quoted where they must be (RFC 4180).
QString csvLine(const QStringList& fields);

}  // namespace spanscope::ui
