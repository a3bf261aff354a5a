// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/rules/rules.h"

namespace spanscope::plan {

/// An empty plus with the same place in the query as the node.
Draft plusInPlaceOf(const Draft& node);

/// A generate with the settings, form and place of the node, which is a repeat, a map or a generate. It gets
/// a call number of its own.
Draft generateInPlaceOf(const Draft& node, Draft input, RewriteState& state);

/// Gives every generate in a copy its own call number, so that it runs on its own.
void giveOwnCalls(Draft& draft, RewriteState& state);

}  // namespace spanscope::plan
