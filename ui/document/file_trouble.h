// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace spanscope::document {

/// Why a document could not be saved there, in a sentence for a person; empty if nothing is known that would
/// keep it from being saved. Looks at permissions also where the system would not keep an administrator from
/// writing: a file that was made read-only is meant to stay as it is.
QString whyNotWritable(const QString& path);

}  // namespace spanscope::document
