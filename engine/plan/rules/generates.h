// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/rules/rules.h"

namespace spanscope::plan {

/// An empty plus that came from the same place as the node.
Draft plusInPlaceOf(const Draft& node);

/// A generate with the settings, form and place of the node (a repeat, a map or a generate) and an output of
/// its own.
Draft generateInPlaceOf(const Draft& node, Draft input, RewriteState& state);

/// Makes every generate in a copy one that runs for itself.
void giveOwnCalls(Draft& draft, RewriteState& state);

}  // namespace spanscope::plan
