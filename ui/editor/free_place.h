// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/editor/stacking.h"

namespace spanscope::ui {

/// Moves a draft down to the first place where no node of it covers another node or a note.
void moveToFreePlace(document::Document& document, document::NodeId top, const Stacks& stacks = {});

}  // namespace spanscope::ui
