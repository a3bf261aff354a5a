// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/node_paint.h"

#include "ui/editor/tidy_layout.h"
#include "ui/operators/operator_table.h"
#include "ui/theme/pattern_painting.h"
#include "ui/theme/theme.h"

#include <QFontMetricsF>
#include <QGlyphRun>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr double kStripe = 8;
constexpr double kRadius = 6;
constexpr double kPillRadius = 14;
/// Max distance to which rings, ports and chips extend beyond a node. Chips on the lower edge extend most.
constexpr double kAround = 17 * kMostChipScale;
constexpr double kLabelSides = 5;  ///< room left and right of an input's label
constexpr double kChipSides = 6;   ///< room left and right of a chip's text
constexpr double kChipHeight = 17;
constexpr double kMostReach =
    18;  ///< max distance of an enlarged label into the pill, which has its title there

/// Moves a point onto Qt's grid of glyphs, so that equal lines are rounded in the same way at any point.
QPointF onGlyphGrid(const QPainter& painter, QPointF place) {
  constexpr double kGrid = 64;           // steps of the grid in a pixel
  constexpr double kAbove = 1.0 / 4096;  // pixels, so that no point is rounded down to the previous step
  const QTransform& device = painter.deviceTransform();
  if (device.type() > QTransform::TxScale) return place;
  const auto snapped = [&](double at, double scale, double from) {
    return (std::trunc((at * scale + from) * kGrid) / kGrid + kAbove - from) / scale;
  };
  return {snapped(place.x(), device.m11(), device.dx()), snapped(place.y(), device.m22(), device.dy())};
}

void drawLine(QPainter& painter, const TextLine& line, double x, double y, const QColor& color) {
  if (line.width <= 0) return;
  painter.setPen(color);
  const QPointF place = onGlyphGrid(painter, {x, y});
  for (const QGlyphRun& run : line.runs) painter.drawGlyphRun(place, run);
}

/// `withPatterns`: the patterns of the parts are drawn, too.
void paintBar(QPainter& painter, const QRectF& bar, const NodeStatus& status, const NodeMarks& marks,
              const CanvasStyle& style, bool withPatterns) {
  painter.setPen(Qt::NoPen);
  if (status.phase == NodePhase::Running) {
    painter.fillRect(bar, style.line);
    if (status.generated == 0 && !status.hasBegun && status.tokens > 0) {
      const double share = static_cast<double>(status.read) / static_cast<double>(status.tokens);
      QRectF done = bar;
      done.setWidth(bar.width() * share);
      painter.fillRect(done, style.accent);
      return;
    }
    const double part = bar.width() / 4;
    if (marks.moves) {
      const double left = bar.left() - part + marks.motion * (bar.width() + part);
      const QRectF moving = QRectF(left, bar.top(), part, bar.height()).intersected(bar);
      painter.fillRect(moving, style.accent);
    } else {
      fillPattern(painter, bar, QBrush(style.accent, Qt::BDiagPattern));
    }
    return;
  }
  if (status.served.total() == 0) return;
  const auto total = static_cast<double>(status.served.total() + status.unread);
  double left = bar.left();
  const auto part = [&](std::int64_t count, BlockRole role, bool isAgain = false) {
    if (count <= 0) return;
    const QRectF area(left, bar.top(), bar.width() * static_cast<double>(count) / total, bar.height());
    painter.fillRect(area, style.servedInk(role));
    const QBrush pattern = isAgain ? QBrush(style.surface, Qt::VerPattern) : style.servedPattern(role);
    if (withPatterns && pattern.style() != Qt::NoBrush) {
      painter.setBrushOrigin(bar.topLeft());
      fillPattern(painter, area, pattern);
    }
    left = area.right();
  };
  part(status.served.hit, BlockRole::Hit);
  part(status.served.relocated, BlockRole::Relocated);
  part(status.served.again, BlockRole::Computed, true);
  part(status.served.computed, BlockRole::Computed);
}

/// Paints the bar of a card with texts, and the cached share beside the bar.
void paintProgress(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeTexts& texts,
                   const NodeMarks& marks, const CanvasStyle& style) {
  const NodeCardPlan plan(look, texts.scale);
  if (!plan.hasBar) return;
  paintBar(painter, plan.bar, status, marks, style, true);
  if (status.phase != NodePhase::Running && status.served.total() > 0) {
    drawLine(painter, texts.share, plan.width - kCardRight - texts.share.width, plan.shareTop,
             style.textThird);
  }
}

void paintChip(QPainter& painter, const TextLine& line, double right, double top, const QColor& ink,
               const QColor& fill) {
  const QRectF area(right - line.width - 2 * kChipSides, top, line.width + 2 * kChipSides, 18);
  painter.setPen(QPen(ink, 1));
  painter.setBrush(fill);
  painter.drawRoundedRect(area, 9, 9);
  drawLine(painter, line, area.left() + kChipSides, area.top() + 2, ink);
}

/// Paints a triangle with an exclamation mark, 12 wide, from its top left corner.
void paintWarning(QPainter& painter, double x, double y, const QColor& ink) {
  QPainterPath path;
  path.moveTo(x + 6, y + 1);
  path.lineTo(x + 12, y + 11.5);
  path.lineTo(x, y + 11.5);
  path.closeSubpath();
  path.moveTo(x + 6, y + 4.5);
  path.lineTo(x + 6, y + 7.6);
  path.moveTo(x + 6, y + 9.4);
  path.lineTo(x + 6, y + 9.6);
  painter.setPen(QPen(ink, 1.2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
}

void paintIcon(QPainter& painter, std::string_view op, double x, double y, const QColor& ink) {
  painter.setPen(QPen(ink, 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(operatorIcon(op).translated(x, y));
}

void paintAnswer(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeTexts& texts,
                 const NodeCardPlan& plan, const CanvasStyle& style) {
  if (plan.hasModel) drawLine(painter, texts.modelLine, kCardLeft, 26, style.textSecond);
  const QRectF box = plan.answer;
  const bool failed = status.phase == NodePhase::Failed && !look.isFrozen();
  if (!texts.body.empty() || (plan.hasState && texts.state.width > 0)) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(failed ? style.errorFill : style.canvas);
    painter.drawRoundedRect(box, 4, 4);
  }
  double y = box.top() + (plan.hasState ? 4 : 0);
  for (const TextLine& line : texts.body) {
    drawLine(painter, line, box.left() + 8, y, failed ? style.error : style.text);
    y += kCardLine;
  }
  if (!plan.hasState) return;
  const double bottom = box.bottom() - 18;
  const bool isOfNote = !status.advice.empty() || !status.answeredBy.empty();
  const QColor ink = failed                                                    ? style.error
                     : isOfNote                                                ? style.computed
                     : status.phase == NodePhase::Finished && !look.isFrozen() ? style.hit
                                                                               : style.textSecond;
  drawLine(painter, texts.state, box.left() + 8, bottom, ink);
  drawLine(painter, texts.picker, box.right() - 8 - texts.picker.width, bottom, style.accent);
}

/// Paints the prediction as a chip on the lower edge. The dashed outline distinguishes the prediction from
/// values of a run.
void paintPrediction(QPainter& painter, const NodeTexts& texts, double top, const CanvasStyle& style) {
  if (texts.prediction.width <= 0) return;
  const QRectF area(kCardLeft - 6, top, texts.prediction.width + 14, kChipHeight);
  QPen pen(style.textThird, 1);
  pen.setDashPattern({3, 2.5});
  painter.setPen(pen);
  painter.setBrush(style.surface);
  painter.drawRoundedRect(area, 8, 8);
  drawLine(painter, texts.prediction, area.left() + 7, area.top() + 1.5, style.textSecond);
}

/// Paints a chip to the left of `corner`, its top right corner. The filled part is this node's share of the
/// answer's attention.
void paintLooked(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeTexts& texts,
                 QPointF corner, const CanvasStyle& style) {
  if (texts.looked.width <= 0) return;
  const double width = texts.looked.width + 2 * kLookedSides;
  const QRectF area(corner.x() - width, corner.y(), width, kChipHeight);
  painter.setPen(Qt::NoPen);
  painter.setBrush(style.surface);
  painter.drawRoundedRect(area, 8, 8);
  painter.save();
  painter.setClipRect(
      QRectF(area.left(), area.top(), area.width() * std::clamp(status.looked, 0.0, 1.0), area.height()),
      Qt::IntersectClip);
  painter.setBrush(look.hue >= 0 ? style.theme.segmentTint(static_cast<std::size_t>(look.hue)) : style.line);
  painter.drawRoundedRect(area, 8, 8);
  painter.restore();
  painter.setBrush(Qt::NoBrush);
  painter.setPen(
      QPen(look.hue >= 0 ? style.theme.segmentInk(static_cast<std::size_t>(look.hue)) : style.outline, 1));
  painter.drawRoundedRect(area, 8, 8);
  drawLine(painter, texts.looked, area.left() + kLookedSides, area.top() + 1.5, style.text);
}

void paintCardTexts(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeTexts& texts,
                    const CanvasStyle& style) {
  const NodeCardPlan plan(look, texts.scale);
  const QColor ink = status.phase == NodePhase::Failed ? style.error : style.text;
  if (plan.hasIcon) paintIcon(painter, look.op, kCardLeft - 1, plan.titleTop, ink);
  drawLine(painter, texts.title, plan.titleLeft, plan.titleTop, ink);
  drawLine(painter, texts.count, plan.width - kCardRight - texts.count.width, plan.titleTop + 1,
           look.stacked > 0 ? style.accent : style.textThird);
  if (look.answers) {
    paintAnswer(painter, look, status, texts, plan, style);
  } else {
    double y = plan.bodyTop;
    for (const TextLine& line : texts.body) {
      drawLine(painter, line, kCardLeft, y, style.textSecond);
      y += kCardLine;
    }
  }
  const double bottom = plan.height - 21;
  if (texts.problem.width > 0) {
    paintWarning(painter, kCardLeft, bottom + 2, style.error);
    drawLine(painter, texts.problem, kCardLeft + 16, bottom, style.error);
  }
  if (texts.scale > kMostChipScale) return;
  // At such a scale, chips on both edges of a gap between two cards would cover each other.
  const bool hasMarks = texts.scale <= kNumberScale;
  double right = plan.width - 8;
  if (hasMarks && (look.muted || look.isFrozen())) {
    paintChip(painter, texts.chip, right, -9, style.textSecond, style.surface);
    right -= texts.chip.width + 20;
  }
  if (hasMarks && look.collapsed)
    paintChip(painter, texts.hidden, right, plan.height - 9, style.textSecond, style.surface);
  paintPrediction(painter, texts, plan.chipTop, style);
  paintLooked(painter, look, status, texts, QPointF(plan.width - kCardRight, std::max(1.0, plan.titleTop)),
              style);
}

/// Returns the scale of the numbers at a pill's inputs. With enough distance between inputs, the numbers have
/// the same size on the screen as at zoom 1. 0: there is no room for numbers.
double numberScale(const NodeLook& look, double scale) {
  if (scale <= kNumberScale) return 1;
  constexpr double kLeastOfWanted = 0.6;
  double least = std::min(scale, kMostNumberScale);
  std::optional<double> above;
  for (std::size_t i = 0; i < look.inputs.size(); ++i) {
    if (!look.taken[i] ||
        (static_cast<qsizetype>(i) < look.labels.size() && look.labels[static_cast<qsizetype>(i)].isEmpty()))
      continue;
    if (above) least = std::min(least, (look.inputs[i] - *above - 1) / (2 * kNumberRadius));
    above = look.inputs[i];
  }
  return least < kLeastOfWanted * scale ? 0 : std::max(1.0, least);
}

bool isRangeLabel(const TextLine& number) {
  return number.width > 2 * kNumberRadius - 2;  // a stack's label such as "4–20"
}

/// Returns the scale of one input's number, if the numbers of the pill have this scale.
double labelScale(const TextLine& number, double scale) {
  const double half = number.width / 2 + kLabelSides;
  return isRangeLabel(number) ? std::clamp(kMostReach / half, 1.0, scale) : scale;
}

/// Returns the width that numbers and signs of inputs need at the left edge of a pill, at the height of a
/// line of text. The result and `middle` are in units of the texts.
double takenByInputs(const NodeLook& look, const NodeTexts& texts, double middle) {
  const double scale = numberScale(look, texts.scale);
  double taken = 0;
  for (std::size_t i = 0; i < look.inputs.size(); ++i) {
    const bool isHidden =
        static_cast<qsizetype>(i) < look.labels.size() && look.labels[static_cast<qsizetype>(i)].isEmpty();
    if (isHidden) continue;
    double high = kPortRadius;
    double wide = kPortRadius;
    if (scale > 0 && i < texts.numbers.size()) {
      const double own = labelScale(texts.numbers[i], scale);
      high = kNumberRadius * own;
      wide = isRangeLabel(texts.numbers[i]) ? (texts.numbers[i].width / 2 + kLabelSides) * own : high;
    }
    const bool isBeside =
        std::abs(look.inputs[i] / texts.scale - middle) < high / texts.scale + kCardLine / 2;
    if (isBeside) taken = std::max(taken, wide / texts.scale);
  }
  return taken;
}

void paintPillTexts(QPainter& painter, const NodeLook& look, const NodeTexts& texts,
                    const CanvasStyle& style) {
  const double middle = look.rect.width / texts.scale / 2;
  const double height = look.rect.height / texts.scale;
  const double promise = kCardLine * static_cast<double>(std::max<std::size_t>(1, texts.promise.size()));
  // Lines are in the middle. A line beside an input moves to the right, as far as there is room.
  constexpr double kAir = 3;
  constexpr double kToEdge = 2;
  const auto isFree = [&](const TextLine& line, double top) {
    const double taken = takenByInputs(look, texts, top + kCardLine / 2);
    return taken + (taken > 0 ? kAir : kToEdge) + line.width + kToEdge <= 2 * middle;
  };
  const auto drawCentered = [&](const TextLine& line, double top, const QColor& ink) {
    const double left = middle - line.width / 2;
    const double wanted = std::max(left, takenByInputs(look, texts, top + kCardLine / 2) + kAir);
    drawLine(painter, line, std::min(wanted, std::max(left, 2 * middle - line.width - kToEdge)), top, ink);
  };
  const double name = texts.name.width > 0 ? kCardLine : 0;
  const auto isPromiseFree = [&](double top) {
    for (std::size_t i = 0; i < texts.promise.size(); ++i) {
      if (!isFree(texts.promise[i], top + kPillTop + kPillTitle + name + static_cast<double>(i) * kCardLine))
        return false;
    }
    return true;
  };
  const double centered = height / 2 - 20 - promise / 2 - name / 2 - (texts.problem.width > 0 ? 8 : 0);
  const double y0 = [&] {
    constexpr double kStep = 4;
    const double most = std::min({height / 4, centered, 96.0});
    // All lines move up or down until no input is beside a line without room. The title is more important
    // than the promise.
    for (const bool withPromise : {true, false}) {
      for (double away = 0; away <= std::max(0.0, most); away += kStep) {
        for (const double top : {centered - away, centered + away}) {
          const bool isTitleFree = isFree(texts.title, top + kPillTop);
          if (isTitleFree && (!withPromise || isPromiseFree(top))) return top;
        }
      }
    }
    return centered;
  }();
  double y = y0;
  paintIcon(painter, look.op, middle - 8, y, style.text);
  y += kPillTop;
  drawCentered(texts.title, y, style.text);
  y += kPillTitle;
  if (texts.name.width > 0) {
    drawLine(painter, texts.name, middle - texts.name.width / 2, y, style.text);
    y += kCardLine;
  }
  // The promise is only drawn if no label of an input covers it.
  const bool hasPromise = isPromiseFree(y0);
  for (std::size_t i = 0; hasPromise && i < texts.promise.size(); ++i) {
    const double top = y + static_cast<double>(i) * kCardLine;
    drawCentered(texts.promise[i], top, style.textSecond);
  }
  y += promise;
  if (texts.problem.width > 0) {
    drawLine(painter, texts.problem, middle - texts.problem.width / 2, y, style.error);
    paintWarning(painter, middle - 6, y + 16, style.error);
  }
  if (texts.scale > kNumberScale) return;
  if (look.muted)
    paintChip(painter, texts.chip, middle + texts.chip.width / 2 + kChipSides, -9, style.textSecond,
              style.surface);
  if (look.collapsed || look.spread) {
    paintChip(painter, texts.hidden, middle + texts.hidden.width / 2 + kChipSides, height - 9,
              look.spread ? style.accent : style.textSecond, style.surface);
  }
}

void paintPorts(QPainter& painter, const NodeLook& look, const NodeTexts& texts, const NodeMarks& marks,
                const CanvasStyle& style, bool withText) {
  const auto port = [&](double x, double y, double radius, bool fits) {
    painter.setPen(QPen(fits ? style.accent : style.wire, fits ? 2 : 1.2));
    painter.setBrush(fits ? style.accentFill : style.surface);
    painter.drawEllipse(QPointF(x, y), radius, radius);
  };
  const double scale = look.pill && withText ? numberScale(look, texts.scale) : 0;
  std::optional<double> above;
  for (std::size_t i = 0; i < look.inputs.size(); ++i) {
    const bool fits = marks.inputFits == -2 || marks.inputFits == static_cast<int>(i);
    const bool hidden =
        static_cast<qsizetype>(i) < look.labels.size() && look.labels[static_cast<qsizetype>(i)].isEmpty();
    if (hidden) continue;
    const double gap = look.inputs[i] - std::exchange(above, look.inputs[i]).value_or(-1e9);
    // If there is too little room, the number of the input above covers the sign of a free input.
    const bool isCovered = scale != 1 && !look.taken[i] && gap < 2 * kNumberRadius * scale + 1;
    if (scale == 0 || isCovered || i >= texts.numbers.size()) {
      port(0, look.inputs[i], kPortRadius, fits);
      continue;
    }
    const TextLine& number = texts.numbers[i];
    const QTransform before = painter.transform();
    double y = look.inputs[i];
    const double half = number.width / 2 + kLabelSides;
    const bool isRange = isRangeLabel(number);
    if (scale != 1) {
      const double own = labelScale(number, scale);
      painter.translate(0, y);
      painter.scale(own, own);
      y = 0;
    }
    if (isRange) {
      painter.setPen(QPen(fits ? style.accent : style.wire, fits ? 2 : 1.2));
      painter.setBrush(fits ? style.accentFill : style.surface);
      painter.drawRoundedRect(QRectF(-half, y - kNumberRadius, 2 * half, 2 * kNumberRadius), kNumberRadius,
                              kNumberRadius);
    } else {
      port(0, y, kNumberRadius, fits);
    }
    drawLine(painter, number, -number.width / 2, y - 7.5, look.taken[i] ? style.text : style.textThird);
    if (scale != 1) painter.setTransform(before);
  }
  // A top has no wire at its output, so the output is only drawn when the user can need it.
  if (look.hasParent || marks.outputFits || marks.hovered || marks.selected || look.draft) {
    port(look.rect.width, look.rect.height / 2, kPortRadius, marks.outputFits);
  }
}

void paintStripe(QPainter& painter, const QRectF& area, int hue, const CanvasStyle& style) {
  if (hue < 0) {
    painter.fillRect(area, style.outline);
    return;
  }
  const auto segment = static_cast<std::size_t>(hue);
  painter.fillRect(area, style.theme.segmentInk(segment));
  const QBrush& pattern = style.segmentPattern(segment);
  if (pattern.style() == Qt::NoBrush) return;
  painter.setBrushOrigin(area.topLeft());
  fillPattern(painter, area, pattern);
}

/// Paints the pattern along the left edge of a card, under its surface. The function paints slices, because
/// Qt gives larger patterned fills to other threads. Waking these threads takes ten times as long as the
/// fill.
void paintPattern(QPainter& painter, const QRectF& rect, const QBrush& pattern) {
  if (paintsVectors(painter)) {
    painter.setBrushOrigin(rect.topLeft());
    fillPattern(painter, QRectF(rect.left(), rect.top(), 2 * kRadius, rect.height()), pattern, kRadius);
    return;
  }
  constexpr double kMostRows =
      30;  // rows of the screen; with a zoom, Qt splits each row into up to three pieces
  const QTransform& device = painter.deviceTransform();
  const double zoom = device.m22();
  // Slices end between two rows of the screen, so that no row is painted twice.
  const auto below = [&](double y) { return (std::ceil(y * zoom + device.dy()) - device.dy()) / zoom; };
  const double width = 2 * kRadius;
  const double first = below(rect.top() + kRadius);
  const double last = std::max(first, below(rect.bottom() - kRadius) - 1 / zoom);
  QPainterPath ends;  // the parts with the rounded corners
  ends.moveTo(rect.left(), first);
  ends.arcTo(QRectF(rect.left(), rect.top(), width, width), 180, -180);
  ends.lineTo(rect.left() + width, first);
  ends.closeSubpath();
  ends.moveTo(rect.left() + width, last);
  ends.arcTo(QRectF(rect.left(), rect.bottom() - width, width, width), 0, -180);
  ends.lineTo(rect.left(), last);
  ends.closeSubpath();
  painter.setBrushOrigin(rect.topLeft());
  painter.setBrush(pattern);
  painter.drawPath(ends);
  const double rows = kMostRows / zoom;
  for (double top = first; top < last; top += rows)
    painter.fillRect(QRectF(rect.left(), top, width, std::min(rows, last - top)), pattern);
}

/// Paints the surface of a card with its stripe. The stripe of a stack has the hues of all its members, from
/// top to bottom.
void paintCard(QPainter& painter, const QRectF& rect, const NodeLook& look, const CanvasStyle& style) {
  const std::vector<int> hues = look.hues.empty() ? std::vector<int>{look.hue} : look.hues;
  painter.setPen(Qt::NoPen);
  if (hues.size() == 1 && !look.muted) {
    // Paints the whole card in its hue, and the surface over the rest. Painting over is faster than a clip.
    const int hue = hues.front();
    painter.setBrush(hue < 0 ? style.outline : style.theme.segmentInk(static_cast<std::size_t>(hue)));
    painter.drawRoundedRect(rect, kRadius, kRadius);
    if (hue >= static_cast<int>(kSegmentHues))
      paintPattern(painter, rect, style.segmentPattern(static_cast<std::size_t>(hue)));
    painter.setBrush(style.surface);
    painter.drawRoundedRect(rect.adjusted(kStripe, 0, 0, 0), kRadius - 2, kRadius - 2);
    painter.fillRect(QRectF(kStripe, 0, kRadius, rect.height()), style.surface);
    return;
  }
  painter.setBrush(style.surface);
  painter.drawRoundedRect(rect, kRadius, kRadius);
  QPainterPath shape;
  shape.addRoundedRect(rect, kRadius, kRadius);
  QPainterPath left;
  left.addRect(0, 0, kStripe, rect.height());
  const QPainterPath before = painter.clipPath();
  const bool wasClipped = painter.hasClipping();
  painter.setClipPath(shape & left, wasClipped ? Qt::IntersectClip : Qt::ReplaceClip);
  const double each = rect.height() / static_cast<double>(hues.size());
  for (std::size_t i = 0; i < hues.size(); ++i)
    paintStripe(painter, QRectF(0, each * static_cast<double>(i), kStripe, each), hues[i], style);
  if (wasClipped)
    painter.setClipPath(before);
  else
    painter.setClipping(false);
}

void paintShape(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeMarks& marks,
                const CanvasStyle& style) {
  const QRectF outer(0, 0, look.rect.width, look.rect.height);
  const double sheets = look.stacked > 0 ? kStackSheets : 0;
  const QRectF rect = outer.adjusted(0, 0, -sheets, -sheets);
  const double radius = look.pill ? kPillRadius : kRadius;
  if (marks.selected) {
    painter.setPen(QPen(style.accent, 2));
    painter.setBrush(style.canvas);
    painter.drawRoundedRect(outer.adjusted(-4, -4, 4, 4), radius + 3, radius + 3);
  }
  if (marks.focused) {
    painter.setPen(QPen(style.accent, 1, Qt::DotLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(outer.adjusted(-7, -7, 7, 7), radius + 6, radius + 6);
  }
  QPen pen(status.phase == NodePhase::Failed || !look.problem.isEmpty() ? style.error : style.outline, 1);
  if (marks.hovered && !marks.selected) pen.setColor(look.stacked > 0 ? style.accent : style.textThird);
  if (look.draft) pen.setDashPattern({4, 3});
  painter.setPen(pen);
  painter.setBrush(style.surface);
  if (look.collapsed) painter.drawRoundedRect(rect.translated(4, 4), radius, radius);
  for (double out = sheets; out > 0; out -= kStackSheets / 2)
    painter.drawRoundedRect(rect.translated(out, out), radius, radius);
  if (!look.pill) {
    paintCard(painter, rect, look, style);
    painter.setBrush(Qt::NoBrush);
  }
  painter.setPen(pen);
  painter.drawRoundedRect(rect, radius, radius);
}

/// Returns the place of the bar below the sign of a card, in pixels of the screen. Null: there is no room
/// below a name in a small font.
QRectF barBelowSign(const NodeLook& look, double zoom) {
  constexpr double kHigh = 3;
  constexpr double kToEdge = 2;
  constexpr double kSides = 8;
  if (look.pill) return {};
  const double sheets = look.stacked > 0 ? kStackSheets : 0;
  const double width = (look.rect.width - sheets) * zoom;
  const double top = (look.rect.height - sheets) * zoom - kToEdge - kHigh;
  if (top < Theme().smallFont().pixelSize() + 2 || width <= 3 * kSides) return {};
  return {kSides, top, width - 2 * kSides, kHigh};
}

/// Paints a node at a small zoom: its name, if the name has room in a small font, else the sign of its
/// operator. Both keep their size on the screen while they fit. `bar` is the place of a bar below them, in
/// pixels of the screen, or null.
void paintSign(QPainter& painter, const NodeLook& look, const CanvasStyle& style, double zoom,
               const QRectF& bar) {
  constexpr double kSign = 16;
  constexpr double kAir = 8;
  constexpr double kBeside = 7;  // room for ports and the stripe
  const QTransform before = painter.transform();
  const QRectF onScreen(0, 0, look.rect.width * zoom, bar.isNull() ? look.rect.height * zoom : bar.top());
  const QString words = !look.identity.isEmpty() ? look.identity
                        : look.name.isEmpty()    ? look.title
                                                 : look.name;
  const int height = Theme().smallFont().pixelSize();  // on the screen
  QFont font = style.bodyFont;
  font.setPixelSize(height);
  const QFontMetricsF metrics(font);
  if (onScreen.height() >= height + 2 && metrics.horizontalAdvance(words) <= onScreen.width() - 2 * kBeside) {
    painter.scale(1 / zoom, 1 / zoom);
    painter.setFont(font);
    painter.setPen(style.text);
    painter.drawText(onScreen, Qt::AlignCenter, words);
    painter.setTransform(before);
    return;
  }
  // The number of a document, or the size of a stack, has room beside the sign.
  const QString number = look.stacked > 0 ? QStringLiteral("×%1").arg(look.stacked)
                                          : look.identity.section(QLatin1Char(' '), -1);
  constexpr double kSmallSign = 12;
  if (!number.isEmpty() && onScreen.height() >= height + 2 &&
      metrics.horizontalAdvance(number) + kSmallSign + 2 <= onScreen.width() - 2 * kBeside) {
    painter.scale(1 / zoom, 1 / zoom);
    const double wide = kSmallSign + 2 + metrics.horizontalAdvance(number);
    const double left = (onScreen.width() - wide) / 2;
    painter.save();
    painter.translate(left, (onScreen.height() - kSmallSign) / 2);
    painter.scale(kSmallSign / kSign, kSmallSign / kSign);
    paintIcon(painter, look.op, 0, 0, style.text);
    painter.restore();
    painter.setFont(font);
    painter.setPen(style.text);
    painter.drawText(onScreen.adjusted(left + kSmallSign + 2, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     number);
    painter.setTransform(before);
    return;
  }
  // Above a bar, the sign has all of its height.
  const double room = onScreen.height() / zoom;
  const double most = std::min(look.rect.width - 2 * kAir, bar.isNull() ? room - 2 * kAir : room) / kSign;
  const double scale = std::max(1.0, std::min(1 / zoom, most));
  painter.translate(look.rect.width / 2, room / 2);
  painter.scale(scale, scale);
  paintIcon(painter, look.op, -kSign / 2, -kSign / 2, style.text);
  painter.setTransform(before);
}

}  // namespace

QRectF paintedArea(const NodeLook& look) {
  double sides = kAround;
  if (look.pill) {
    // Labels of inputs are on the left edge, and chips in the middle of the lower edge.
    const double chip = (kMostChip / 2 + kChipSides) * kNumberScale - look.rect.width / 2;
    const bool hasRange = std::any_of(look.labels.begin(), look.labels.end(),
                                      [](const QString& label) { return label.size() > 2; });
    const double label = hasRange ? kMostLabel / 2 + kLabelSides : kNumberRadius;
    sides = std::max({kAround, kMostLabel / 2 + kLabelSides + 2, (label + 1) * kMostNumberScale, chip + 2});
  }
  return {-sides, -kAround, look.rect.width + 2 * sides, look.rect.height + 2 * kAround};
}

void paintNode(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeTexts& texts,
               const NodeMarks& marks, const CanvasStyle& style, double zoom) {
  const double opacity = painter.opacity();
  if (look.muted) painter.setOpacity(opacity * 0.4);
  if (zoom < kShapeZoom) {
    const QRectF rect(0, 0, look.rect.width, look.rect.height);
    const QColor hue =
        look.hue >= 0 ? style.theme.segmentInk(static_cast<std::size_t>(look.hue)) : style.outline;
    painter.fillRect(rect, marks.selected ? style.accent : hue);
    painter.setOpacity(opacity);
    return;
  }
  const bool withText = zoom >= kTextZoom;
  painter.setRenderHint(QPainter::Antialiasing, true);
  paintShape(painter, look, status, marks, style);
  const QTransform before = painter.transform();
  if (texts.scale != 1) painter.scale(texts.scale, texts.scale);
  if (withText) {
    if (look.pill) {
      paintPillTexts(painter, look, texts, style);
    } else {
      paintCardTexts(painter, look, status, texts, style);
    }
  }
  if (!look.pill && withText) paintProgress(painter, look, status, texts, marks, style);
  if (texts.scale != 1) painter.setTransform(before);
  if (!withText) {
    const bool hasBar = status.phase == NodePhase::Running || status.served.total() > 0;
    const QRectF bar = hasBar ? barBelowSign(look, zoom) : QRectF();
    paintSign(painter, look, style, zoom, bar);
    if (!bar.isNull()) {
      painter.scale(1 / zoom, 1 / zoom);
      paintBar(painter, bar, status, marks, style, false);
      painter.setTransform(before);
    }
  }
  paintPorts(painter, look, texts, marks, style, withText);
  painter.setOpacity(opacity);
}

}  // namespace spanscope::ui
