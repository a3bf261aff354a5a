// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/node_parts.h"

namespace spanscope::spnl {

/// Calls `change` with the settings of every generate, repeat and map.
template <class Change>
void changeSettings(query::Node& query, const Change& change) {
  query::walk(query, {}, [&](query::Node& node, const NodePath& /*path*/) {
    if (query::GenerateSettings* settings = query::settingsOf(node)) change(*settings);
  });
}

}  // namespace spanscope::spnl
