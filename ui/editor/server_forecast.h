// SPDX-License-Identifier: GPL-3.0-or-later
// What the twins of a document's servers say of each node.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/editor/node_forecast.h"
#include "ui/session/twin_asker.h"

namespace spanscope::ui {

/// The forecast of each node that a server of the person's list answers, and of the texts in its prompts, by
/// that server's twin. Nodes are not here whose server has no twin, or one that says nothing, and those that
/// the embedded engine answers beside servers: it is sent each step as a chat, of which its forecast knows
/// nothing.
NodeForecasts serverForecasts(const AskedTwins& asked, const document::Document& document);

}  // namespace spanscope::ui
