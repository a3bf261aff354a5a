// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the texts of a card for the available space. Sizes are in scene pixels divided by the scale of the
// texts. The origin is the top left corner of the node.
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

/// The laid out texts of a node. The texts are laid out again when the look, status or style of the node
/// changes.
struct NodeTexts {
  TextLine title;
  TextLine name;  ///< only for pills, which show the name below the title
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
  std::vector<TextLine> promise;  ///< only for pills; empty if there is no room for all lines
  std::vector<TextLine> body;
  std::vector<TextLine> numbers;
  double scale = 1;  ///< the scale for which the texts were laid out
};
/// Returns the result of an augment: "5 passages, best 8.12". Empty for other nodes, and before the augment
/// has run.
QString passagesText(const NodeStatus& status);
/// Returns the text of a stack: "3 200 tokens · 51 % cached". Empty if neither number is known.
QString stackText(const NodeStatus& status);
/// Lays out the texts of a card. If `prediction` is nullptr, the card has no prediction. `scale`
/// comes from textScale().
NodeTexts makeNodeTexts(const NodeLook& look, const NodeStatus& status, const NodePrediction* prediction,
                        const CanvasStyle& style, double scale = 1);

}  // namespace spanscope::ui
