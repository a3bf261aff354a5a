// SPDX-License-Identifier: GPL-3.0-or-later
// The commands of the canvas by their id in the command table.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/editor/canvas_core.h"

#include <QPointF>
#include <QString>

#include <functional>
#include <map>

namespace spanscope::ui {

struct CanvasCommand {
  std::function<bool()> can;
  std::function<void()> run;
};
using CanvasCommands = std::map<QString, CanvasCommand>;

/// Those that change the document or the selection and need no other widget. `pointer`: the scene point where
/// what has no better place goes. `core` must outlive them.
void addDocumentCommands(CanvasCommands& commands, CanvasCore& core, std::function<QPointF()> pointer);

}  // namespace spanscope::ui
