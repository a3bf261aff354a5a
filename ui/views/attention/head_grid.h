// SPDX-License-Identifier: GPL-3.0-or-later
// What each head of each layer read while the answer was drawn: small maps to choose from, and which heads
// found a document.
#pragma once

#include "ui/session/view_input.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct HeadMap {
  std::int32_t layer = 0;
  std::int32_t head = 0;
  double share = -1;        ///< of what it read from sources: the selected one, else the one it read most
  std::size_t most = 0;     ///< place in HeadGrid::sources of the one it read most
  std::vector<float> mass;  ///< [tokens][sources], without first tokens; 1 is the most of the map
  bool operator==(const HeadMap&) const = default;
};

struct HeadGrid {
  RequestId request = 0;  ///< 0: nothing was recorded by head
  std::vector<std::uint32_t> sources;
  std::vector<QString> names;           ///< of the sources
  std::optional<std::size_t> selected;  ///< place in `sources`
  std::size_t tokens = 0;
  /// The heads that read most of the selected source first; with none selected, by layer and head.
  std::vector<HeadMap> maps;
  bool operator==(const HeadGrid&) const = default;

  bool isEmpty() const { return maps.empty(); }
};

/// Of the shown request.
HeadGrid headGrid(const ViewInput& input);

/// "layer 2, head 1: 84 % of what it read from sources is document 7"
QString headText(const HeadGrid& grid, std::size_t map);
/// "Heads that found document 7, the best first"
QString headGridTitle(const HeadGrid& grid);

}  // namespace spanscope::ui
