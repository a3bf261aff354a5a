// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/free_place.h"

#include "engine/workbench/document/edits.h"
#include "ui/editor/tidy_layout.h"

#include <algorithm>
#include <set>
#include <vector>

namespace spanscope::ui {
namespace {

using document::NodeId;
using document::Rect;

bool covers(const Rect& a, const Rect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/// The rectangle with the distance that nodes keep around it.
Rect withGap(const Rect& rect) {
  return {.x = rect.x - kRowGap,
          .y = rect.y - kRowGap,
          .width = rect.width + 2 * kRowGap,
          .height = rect.height + 2 * kRowGap};
}

Rect united(const Rect& a, const Rect& b) {
  const double x = std::min(a.x, b.x);
  const double y = std::min(a.y, b.y);
  return {.x = x,
          .y = y,
          .width = std::max(a.x + a.width, b.x + b.width) - x,
          .height = std::max(a.y + a.height, b.y + b.height) - y};
}

}  // namespace

void moveToFreePlace(document::Document& document, NodeId top, const Stacks& stacks) {
  const auto layout = tidyLayout(document, stacks);
  const auto own = layout.find(top);
  if (own == layout.end()) return;
  const std::vector<NodeId> subtree = document.subtree(top);
  const std::set<NodeId> moved(subtree.begin(), subtree.end());
  Rect area = own->second;
  std::vector<Rect> taken;
  for (const auto& [id, rect] : layout) {
    if (moved.contains(id)) {
      area = united(area, rect);
    } else {
      taken.push_back(withGap(rect));
    }
  }
  for (const document::Note& note : document.notes) taken.push_back(withGap(note.area));
  // The search goes from the top, so that a rectangle that was passed does not come again further down.
  std::sort(taken.begin(), taken.end(), [](const Rect& a, const Rect& b) { return a.y < b.y; });
  const double before = area.y;
  for (const Rect& rect : taken) {
    if (covers(area, rect)) area.y = rect.y + rect.height;
  }
  if (area.y == before) return;
  document::setPosition(document, top,
                        document::Point{.x = own->second.x, .y = own->second.y + (area.y - before)});
}

}  // namespace spanscope::ui
