// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of a card, laid out for the room they have. Sizes are in scene pixels divided by the scale of the
// texts; the origin is the top left corner of the node.
#pragma once

#include "ui/editor/canvas_style.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_prediction.h"
#include "ui/editor/node_status.h"

#include <QString>

#include <vector>

namespace spanscope::ui {

inline constexpr double kMostLabel = 60;  ///< width of the longest label of an input, such as "10–1200"
inline constexpr double kMostChip = 80;   ///< width of the longest text of a chip

/// The laid out texts of a node. They are made again when its look, status or style changes.
struct NodeTexts {
  TextLine title;
  TextLine name;  ///< only of pills, which show it below the title
  TextLine count;
  TextLine share;
  TextLine state;
  TextLine picker;
  TextLine modelLine;
  TextLine problem;
  TextLine chip;
  TextLine hidden;
  TextLine prediction;
  TextLine looked;
  std::vector<TextLine> promise;  ///< of pills; empty if they have no room for all of it
  std::vector<TextLine> body;
  std::vector<TextLine> numbers;
  double scale = 1;  ///< the scale for which the texts were laid out
};
/// What an augment found: "5 fragments, best 8.12". Empty for other nodes and before the augment has run.
QString fragmentsText(const NodeStatus& status);
/// The text of a stack: "3 200 tokens · 51 % cached". Empty if neither is known.
QString stackText(const NodeStatus& status);
/// Lays out the texts of a card. If `prediction` is nullptr, the card says nothing of the next run. `scale`
/// comes from textScale().
NodeTexts makeNodeTexts(const NodeLook& look, const NodeStatus& status, const NodePrediction* prediction,
                        const CanvasStyle& style, double scale = 1);

}  // namespace spanscope::ui
