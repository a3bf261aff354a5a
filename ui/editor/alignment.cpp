// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/alignment.h"

#include "engine/workbench/document/edits.h"
#include "ui/editor/tidy_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <set>

namespace spanscope::ui {

namespace {

using document::Rect;

/// The extent of a rectangle in one direction.
struct Extent {
  double from = 0;
  double size = 0;
  double to() const { return from + size; }
  /// Returns the first edge, the center and the last edge.
  std::array<double, 3> lines() const { return {from, from + size / 2, to()}; }
};

Extent across(const Rect& rect) {
  return {.from = rect.x, .size = rect.width};
}

Extent down(const Rect& rect) {
  return {.from = rect.y, .size = rect.height};
}

constexpr std::size_t kCenter = 1;
constexpr double kSame = 0.5;  ///< max scene pixels between lines that count as the same

/// Calls `use` for each pair of lines that can snap: edges with edges, and centers with centers.
template <class Use>
void forLines(const Extent& one, const Extent& other, const Use& use) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      if ((i == kCenter) == (k == kCenter)) use(one.lines()[i], other.lines()[k]);
    }
  }
}

/// Returns the movement to the nearest line of the others. Nothing: no line is within `reach`.
template <class ExtentOf>
std::optional<double> nearest(const Rect& rect, const std::vector<Rect>& others, double reach,
                              const ExtentOf& extentOf) {
  std::optional<double> best;
  for (const Rect& other : others) {
    forLines(extentOf(rect), extentOf(other), [&](double own, double line) {
      const double by = line - own;
      if (std::abs(by) <= (best ? std::abs(*best) - 1e-9 : reach)) best = by;
    });
  }
  return best;
}

/// Adds the lines that the snapped rectangle shares with others. `lineOf` makes a line from its place and its
/// ends.
template <class ExtentOf, class LengthOf, class LineOf>
void addGuides(std::vector<QLineF>& guides, const Rect& rect, const std::vector<Rect>& others,
               const ExtentOf& extentOf, const LengthOf& lengthOf, const LineOf& lineOf) {
  struct Guide {
    double at, from, to;
  };
  std::vector<Guide> found;
  for (const Rect& other : others) {
    forLines(extentOf(rect), extentOf(other), [&](double own, double line) {
      if (std::abs(own - line) > kSame) return;
      const Guide guide{.at = line,
                        .from = std::min(lengthOf(rect).from, lengthOf(other).from),
                        .to = std::max(lengthOf(rect).to(), lengthOf(other).to())};
      const auto same = std::find_if(found.begin(), found.end(), [&](const Guide& known) {
        return std::abs(known.at - guide.at) <= kSame;
      });
      if (same == found.end()) {
        found.push_back(guide);
      } else {
        same->from = std::min(same->from, guide.from);
        same->to = std::max(same->to, guide.to);
      }
    });
  }
  for (const Guide& guide : found) guides.push_back(lineOf(guide.at, guide.from, guide.to));
}

double toGrid(double at) {
  return std::round(at / kGridStep) * kGridStep - at;
}

}  // namespace

Snap snapTo(const Rect& rect, const std::vector<Rect>& others, double reach) {
  const std::optional<double> dx = nearest(rect, others, reach, across);
  const std::optional<double> dy = nearest(rect, others, reach, down);
  Snap snap{.by = {dx.value_or(toGrid(rect.x)), dy.value_or(toGrid(rect.y))}, .guides = {}};
  const Rect moved{
      .x = rect.x + snap.by.x(), .y = rect.y + snap.by.y(), .width = rect.width, .height = rect.height};
  if (dx)
    addGuides(snap.guides, moved, others, across, down,
              [](double at, double from, double to) { return QLineF(at, from, at, to); });
  if (dy)
    addGuides(snap.guides, moved, others, down, across,
              [](double at, double from, double to) { return QLineF(from, at, to, at); });
  return snap;
}

void align(std::vector<Rect>& rects, Alignment to) {
  if (rects.empty()) return;
  Rect all = rects.front();
  for (const Rect& rect : rects) {
    const double right = std::max(all.x + all.width, rect.x + rect.width);
    const double bottom = std::max(all.y + all.height, rect.y + rect.height);
    all.x = std::min(all.x, rect.x);
    all.y = std::min(all.y, rect.y);
    all.width = right - all.x;
    all.height = bottom - all.y;
  }
  for (Rect& rect : rects) {
    switch (to) {
      case Alignment::Left:
        rect.x = all.x;
        break;
      case Alignment::Center:
        rect.x = all.x + (all.width - rect.width) / 2;
        break;
      case Alignment::Right:
        rect.x = all.x + all.width - rect.width;
        break;
      case Alignment::Top:
        rect.y = all.y;
        break;
      case Alignment::Middle:
        rect.y = all.y + (all.height - rect.height) / 2;
        break;
      case Alignment::Bottom:
        rect.y = all.y + all.height - rect.height;
        break;
    }
  }
}

void distribute(std::vector<Rect>& rects, Qt::Orientation along) {
  if (rects.size() < 3) return;
  const bool isAcross = along == Qt::Horizontal;
  const auto extentOf = [isAcross](const Rect& rect) { return isAcross ? across(rect) : down(rect); };
  std::vector<std::size_t> order(rects.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return extentOf(rects[a]).lines()[kCenter] < extentOf(rects[b]).lines()[kCenter];
  });
  double free = extentOf(rects[order.back()]).to() - extentOf(rects[order.front()]).from;
  for (const Rect& rect : rects) free -= extentOf(rect).size;
  const double gap = free / static_cast<double>(rects.size() - 1);
  double at = extentOf(rects[order.front()]).from;
  for (const std::size_t i : order) {
    (isAcross ? rects[i].x : rects[i].y) = at;
    at += extentOf(rects[i]).size + gap;
  }
}

namespace {

using document::NodeId;

bool covers(const Rect& a, const Rect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/// Returns the rectangle, enlarged by the min distance between nodes.
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
  // Checks the rectangles from top to bottom, because the area only moves down.
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
