// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/document/document.h"

namespace spanscope::ui {

/// Moves a draft down from where it stands to the first place where none of it covers another node or a note.
void moveToFreePlace(document::Document& document, document::NodeId top);

}  // namespace spanscope::ui
