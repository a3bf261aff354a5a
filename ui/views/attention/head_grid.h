// SPDX-License-Identifier: GPL-3.0-or-later
// What each head of each layer read for the tokens of the answer. A person chooses from these small maps and
// sees which heads found a document.
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
  /// The part of one source in what the head read from all sources; the selected source, else the one it read
  /// most.
  double share = -1;
  std::size_t most = 0;  ///< index in HeadGrid::sources of the source that it read most
  /// [tokens][sources], without first tokens; scaled so that the largest of the map is 1.
  std::vector<float> mass;
  bool operator==(const HeadMap&) const = default;
};

struct HeadGrid {
  RequestId request = 0;                ///< 0: nothing was recorded by head
  std::vector<std::uint32_t> sources;   ///< parts of the prompt
  std::vector<QString> names;           ///< names of the sources
  std::optional<std::size_t> selected;  ///< index in `sources`
  std::size_t tokens = 0;
  /// If a source is selected, the heads that read most of it come first; else ordered by layer and head.
  std::vector<HeadMap> maps;
  bool operator==(const HeadGrid&) const = default;

  bool isEmpty() const { return maps.empty(); }
};

/// The grid of the shown request.
HeadGrid headGrid(const ViewInput& input);

/// "layer 2, head 1: 84 % of what it read from sources is document 7"
QString headText(const HeadGrid& grid, std::size_t map);
/// "Heads that found document 7, the best first"
QString headGridTitle(const HeadGrid& grid);

}  // namespace spanscope::ui
