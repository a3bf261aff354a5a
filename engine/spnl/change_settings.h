// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query.h"

namespace spanscope::spnl {

/// Calls `change` with the settings of every generate, repeat and map.
template <class Change>
void changeSettings(query::Node& node, const Change& change) {
  if (auto* generate = node.as<query::Generate>()) {
    change(generate->settings);
    changeSettings(*generate->input, change);
  } else if (auto* repeat = node.as<query::Repeat>()) {
    change(repeat->generate.settings);
    changeSettings(*repeat->generate.input, change);
  } else if (auto* map = node.as<query::Map>()) {
    change(map->settings);
  } else if (auto* join = node.as<query::Join>()) {
    for (query::Node& child : join->children) changeSettings(child, change);
  } else if (auto* monad = node.as<query::Monad>()) {
    changeSettings(*monad->body, change);
  } else if (auto* zip = node.as<query::Zip>()) {
    changeSettings(*zip->first, change);
    changeSettings(*zip->second, change);
  } else if (auto* augment = node.as<query::Augment>()) {
    changeSettings(*augment->body, change);
  }
}

}  // namespace spanscope::spnl
