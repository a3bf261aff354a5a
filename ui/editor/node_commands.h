// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of nodes do.
#pragma once

#include "ui/commands/command_handlers.h"
#include "ui/editor/canvas_core.h"

#include <QPointF>

#include <functional>

namespace spanscope::ui {

/// Those that change the document or the selection and need no other widget. `pointer`: the scene point where
/// what has no better place goes. `core` must outlive them.
void addDocumentCommands(CommandHandlers& commands, CanvasCore& core, std::function<QPointF()> pointer);

}  // namespace spanscope::ui
