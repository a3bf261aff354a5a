// SPDX-License-Identifier: GPL-3.0-or-later
// Adds the commands that act on nodes.
#pragma once

#include "ui/commands/command_actions.h"
#include "ui/editor/canvas_core.h"

#include <QPointF>

#include <functional>

namespace spanscope::ui {

/// Adds the commands that change the document or the selection and need no other widget. `pointer` returns
/// the scene point for new nodes that have no other place. `core` must outlive the commands.
void addDocumentCommands(CommandHandlers& commands, CanvasCore& core, std::function<QPointF()> pointer);

}  // namespace spanscope::ui
