// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/passage.h"

#include <QString>

namespace spanscope::ui {

/// "Indexing: 20 of 1000 documents, 3 new".
QString progressText(const retrieve::IndexProgress& now);

}  // namespace spanscope::ui
