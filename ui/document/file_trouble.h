// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace spanscope::ui {

/// Why a document cannot be saved at this path, as a sentence for a person. Empty if nothing is known that
/// would prevent it. File permissions count even for an administrator, whom the system would let write: a
/// file that was made read-only is meant to stay as it is.
QString whyNotWritable(const QString& path);

}  // namespace spanscope::ui
