// SPDX-License-Identifier: GPL-3.0-or-later
// What a card says, laid out for its room. Sizes in pixels of the texts, the origin at the top left of the
// node.
#pragma once

#include "ui/editor/canvas_style.h"
#include "ui/editor/node_forecast.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_status.h"
#include "ui/editor/text_setter.h"

#include <QString>

#include <vector>

namespace spanscope::ui {

/// Texts of a node, laid out; made again when look, state or style change.
struct NodeTexts {
  TextLine title;
  TextLine name;  ///< of pills below the title
  TextLine count;
  TextLine share;
  TextLine state;
  TextLine picker;
  TextLine modelLine;
  TextLine problem;
  TextLine chip;
  TextLine promise;
  TextLine hidden;
  TextLine forecast;
  TextLine looked;
  std::vector<TextLine> body;
  std::vector<TextLine> numbers;
  double scale = 1;  ///< that they were laid out for
};
/// "5 fragments, best 8.12": what an augment found; empty for other nodes and before it ran.
QString fragmentsText(const NodeStatus& status);
/// "3 200 tokens · 51 % cached" of a stack; empty where neither is known.
QString stackText(const NodeStatus& status);
/// `forecast`: nullptr: nothing is said of the next run. `scale` as textScale().
NodeTexts makeNodeTexts(const NodeLook& look, const NodeStatus& status, const NodeForecast* forecast,
                        const CanvasStyle& style, double scale = 1);

}  // namespace spanscope::ui
