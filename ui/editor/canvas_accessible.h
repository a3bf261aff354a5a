// SPDX-License-Identifier: GPL-3.0-or-later
// Offers the canvas to screen readers and tests as a tree whose items are the nodes, in prompt order.
#pragma once

#include "engine/workbench/document/document.h"

#include <QString>

namespace spanscope::ui {

class CanvasCore;

/// Makes canvases accessible. Call this function before the first canvas is shown. Later calls do nothing.
void installCanvasAccessibility();

/// Returns the text of a node for screen readers: "user, document 1, 49 tokens, cached 100 %".
QString accessibleNodeName(const CanvasCore& core, document::NodeId id);

}  // namespace spanscope::ui
