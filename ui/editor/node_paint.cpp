// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/node_paint.h"

#include "ui/editor/tidy_layout.h"
#include "ui/operators/operator_table.h"
#include "ui/words/part_text.h"
#include "ui/words/score_text.h"
#include "ui/words/tr.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QTextLayout>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr double kStripe = 8;
constexpr double kLeft = 16;   ///< where texts begin
constexpr double kRight = 12;  ///< free at the right
constexpr double kRadius = 6;
constexpr double kPillRadius = 14;
constexpr double kBarHeight = 6;
constexpr double kShareWidth = 44;
constexpr double kShareRise = 3;  ///< of the share's line above its digits
constexpr double kTitleTop = 8;
constexpr double kLineHeight = 16;
constexpr double kSlack = 0.1;  ///< of a line that may stand out into the distance below
constexpr double kSheets = 8;   ///< that stand out behind a stack
constexpr double kScaleStep = 1.0625;
constexpr double kNumberScale = 1.2;  ///< beyond it the numbers of inputs have no room

/// The parts of a card from top to bottom, in pixels of its texts.
struct CardPlan {
  CardPlan(const NodeLook& look, double scale)
      : width((look.rect.width - (look.stacked > 0 ? kSheets : 0)) / scale),
        height((look.rect.height - (look.stacked > 0 ? kSheets : 0)) / scale) {
    const bool tight = height < 60;
    titleTop = height < 30 ? std::max(0.0, (height - kLineHeight) / 2) : tight ? 4 : kTitleTop;
    bodyTop = tight ? 20 : 25;
    bar = QRectF(kLeft, height - (tight ? 9 : 13), width - kLeft - kRight - kShareWidth,
                 tight ? 4 : kBarHeight);
    hasBar = height >= 30;
    bodyLines = std::max(0, static_cast<int>((bar.top() - bodyTop) / kLineHeight + kSlack));
    hasIcon = width >= 110;
    titleLeft = kLeft + (hasIcon ? 20 : 0);
    shareTop = bar.center().y() - 7;
    if (!look.answers) return;
    hasModel = height >= 100;
    const double top = hasModel ? 42 : bodyTop;
    answer = QRectF(kLeft - 2, top, width - kLeft - kRight + 6, bar.top() - (tight ? 3 : 12) - top);
    hasState = answer.height() >= 38;
    bodyLines = std::max(0, static_cast<int>((answer.height() - (hasState ? 22 : 0)) / kLineHeight));
  }
  double width, height, titleTop, bodyTop, titleLeft, shareTop;
  QRectF bar, answer;
  bool hasBar, hasIcon, hasModel = false, hasState = false;
  int bodyLines;
};

QBrush overlay(const QColor& color, BlockRole role) {
  QPixmap tile(6, 6);
  tile.fill(Qt::transparent);
  QPainter painter(&tile);
  painter.setRenderHint(QPainter::Antialiasing);
  if (role == BlockRole::Relocated) {
    painter.setPen(QPen(color, 1.4));
    painter.drawLine(QPointF(-1, 7), QPointF(7, -1));
    painter.drawLine(QPointF(-4, 4), QPointF(4, -4));
    painter.drawLine(QPointF(2, 10), QPointF(10, 2));
  } else {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawEllipse(QPointF(3, 3), 1.3, 1.3);
  }
  painter.end();
  return QBrush(tile);
}

void drawLine(QPainter& painter, const TextLine& line, double x, double y, const QColor& color) {
  if (line.width <= 0) return;
  painter.setPen(color);
  painter.setFont(line.font);
  painter.drawStaticText(QPointF(x, y), line.text);
}

QString countText(const NodeLook& look, const NodeStatus& status) {
  if (status.tokens < 0) return {};
  if (look.answers) {
    if (status.generated == 0) return QString::number(status.tokens);
    return QStringLiteral("%1+%2").arg(status.tokens).arg(status.generated);
  }
  return tr("%1 tok").arg(status.tokens);
}

QString stateText(const NodeLook& look, const NodeStatus& status) {
  if (look.isFrozen())
    return look.frozen.size() == 1 ? tr("frozen") : tr("%1 frozen answers").arg(look.frozen.size());
  switch (status.phase) {
    case NodePhase::Waiting:
      return tr("waiting");
    case NodePhase::Running:
      if (status.generated > 0) return tr("answering");
      if (status.tokens <= 0) return tr("reading the prompt");
      return tr("read %1 of %2 tokens").arg(status.read).arg(status.tokens);
    case NodePhase::Stopped:
      return tr("stopped");
    case NodePhase::Failed:
      return tr("failed");
    case NodePhase::Finished:
      // A run that the engine warned of is not ticked off.
      return status.advice.empty() ? tr("✓ finished") : tr("⚠ finished");
    case NodePhase::None:
      return {};
  }
  return {};
}

/// "3 200" with a space that no line is broken at.
QString grouped(std::int64_t count) {
  QString digits = QString::number(count);
  for (qsizetype at = digits.size() - 3; at > 0; at -= 3) digits.insert(at, QChar(0x202F));
  return digits;
}

/// The end of a text, as much as fits so many lines.
QString endOf(const QString& text, const QFont& font, double width, int lines) {
  const QFontMetricsF metrics(font);
  // Words are not broken, so a line is not always full.
  return metrics.elidedText(text, Qt::ElideLeft, width * lines - (lines - 1) * 48);
}

void paintBar(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeTexts& texts,
              const NodeMarks& marks, const CanvasStyle& style, bool withText) {
  const CardPlan plan(look, texts.scale);
  if (!plan.hasBar) return;
  const QRectF bar = plan.bar;
  painter.setPen(Qt::NoPen);
  if (status.phase == NodePhase::Running) {
    painter.fillRect(bar, style.line);
    if (status.generated == 0 && status.tokens > 0) {
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
      painter.fillRect(bar, QBrush(style.accent, Qt::BDiagPattern));
    }
    return;
  }
  if (status.served.total() == 0) return;
  const auto total = static_cast<double>(status.served.total());
  double left = bar.left();
  const auto part = [&](std::int64_t count, BlockRole role) {
    if (count <= 0) return;
    const QRectF area(left, bar.top(), bar.width() * static_cast<double>(count) / total, bar.height());
    painter.fillRect(area, style.servedInk(role));
    const QBrush pattern = style.servedPattern(role);
    if (withText && pattern.style() != Qt::NoBrush) {
      painter.setBrushOrigin(bar.topLeft());
      painter.fillRect(area, pattern);
    }
    left = area.right();
  };
  part(status.served.hit, BlockRole::Hit);
  part(status.served.relocated, BlockRole::Relocated);
  part(status.served.computed, BlockRole::Computed);
  if (withText) {
    drawLine(painter, texts.share, plan.width - kRight - texts.share.width, plan.shareTop, style.textThird);
  }
}

void paintChip(QPainter& painter, const TextLine& line, double right, double top, const QColor& ink,
               const QColor& fill) {
  const QRectF area(right - line.width - 12, top, line.width + 12, 18);
  painter.setPen(QPen(ink, 1));
  painter.setBrush(fill);
  painter.drawRoundedRect(area, 9, 9);
  drawLine(painter, line, area.left() + 6, area.top() + 2, ink);
}

/// A triangle with an exclamation mark, 12 wide, from the top left.
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
                 const CardPlan& plan, const CanvasStyle& style) {
  if (plan.hasModel) drawLine(painter, texts.modelLine, kLeft, 26, style.textSecond);
  const QRectF box = plan.answer;
  const bool failed = status.phase == NodePhase::Failed && !look.isFrozen();
  if (!texts.body.empty() || texts.state.width > 0) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(failed ? style.errorFill : style.canvas);
    painter.drawRoundedRect(box, 4, 4);
  }
  double y = box.top() + (plan.hasState ? 4 : 0);
  for (const TextLine& line : texts.body) {
    drawLine(painter, line, box.left() + 8, y, failed ? style.error : style.text);
    y += kLineHeight;
  }
  if (!plan.hasState) return;
  const double bottom = box.bottom() - 18;
  const QColor ink = failed                                                    ? style.error
                     : !status.advice.empty()                                  ? style.computed
                     : status.phase == NodePhase::Finished && !look.isFrozen() ? style.hit
                                                                               : style.textSecond;
  drawLine(painter, texts.state, box.left() + 8, bottom, ink);
  drawLine(painter, texts.picker, box.right() - 8 - texts.picker.width, bottom, style.accent);
}

/// Hangs on the lower edge; the broken outline tells what is expected from what has been.
void paintForecast(QPainter& painter, const NodeTexts& texts, double bottom, const CanvasStyle& style) {
  if (texts.forecast.width <= 0) return;
  const QRectF area(kLeft - 6, bottom - 6.5, texts.forecast.width + 14, 17);
  QPen pen(style.textThird, 1);
  pen.setDashPattern({3, 2.5});
  painter.setPen(pen);
  painter.setBrush(style.surface);
  painter.drawRoundedRect(area, 8, 8);
  drawLine(painter, texts.forecast, area.left() + 7, area.top() + 1.5, style.textSecond);
}

/// Hangs on the lower edge as well, filled as far as the answer looked here.
void paintLooked(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeTexts& texts,
                 QPointF corner, const CanvasStyle& style) {
  if (texts.looked.width <= 0) return;
  const double width = texts.looked.width + 14;
  const QRectF area(corner.x() - width, corner.y() - 6.5, width, 17);
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
  drawLine(painter, texts.looked, area.left() + 7, area.top() + 1.5, style.text);
}

void paintCardTexts(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeTexts& texts,
                    const CanvasStyle& style) {
  const CardPlan plan(look, texts.scale);
  const QColor ink = status.phase == NodePhase::Failed ? style.error : style.text;
  if (plan.hasIcon) paintIcon(painter, look.op, kLeft - 1, plan.titleTop, ink);
  drawLine(painter, texts.title, plan.titleLeft, plan.titleTop, ink);
  drawLine(painter, texts.count, plan.width - kRight - texts.count.width, plan.titleTop + 1,
           look.stacked > 0 ? style.accent : style.textThird);
  if (look.answers) {
    paintAnswer(painter, look, status, texts, plan, style);
  } else {
    double y = plan.bodyTop;
    for (const TextLine& line : texts.body) {
      drawLine(painter, line, kLeft, y, style.textSecond);
      y += kLineHeight;
    }
  }
  const double bottom = plan.height - 21;
  if (texts.problem.width > 0) {
    paintWarning(painter, kLeft, bottom + 2, style.error);
    drawLine(painter, texts.problem, kLeft + 16, bottom, style.error);
  }
  if (texts.scale > kNumberScale) return;  // what stands out of the card would reach its neighbours
  double right = plan.width - 8;
  if (look.muted || look.isFrozen()) {
    paintChip(painter, texts.chip, right, -9, style.textSecond, style.surface);
    right -= texts.chip.width + 20;
  }
  double lower = right;
  if (look.collapsed) {
    paintChip(painter, texts.hidden, right, plan.height - 9, style.textSecond, style.surface);
    lower -= texts.hidden.width + 20;
  }
  // Beside the cached share that stands over the corner. What was tells more than what is expected where
  // there is no room for both.
  if (texts.share.width > 0) lower = std::min(lower, plan.bar.right());
  const double besideForecast = kLeft + texts.forecast.width + 9;
  if (texts.looked.width <= 0 || lower - texts.looked.width - 14 >= besideForecast)
    paintForecast(painter, texts, plan.height, style);
  paintLooked(painter, look, status, texts, QPointF(lower, plan.height), style);
}

void paintPillTexts(QPainter& painter, const NodeLook& look, const NodeTexts& texts,
                    const CanvasStyle& style) {
  const double middle = look.rect.width / texts.scale / 2;
  const double height = look.rect.height / texts.scale;
  double y = height / 2 - 28 - (texts.name.width > 0 ? 8 : 0) - (texts.problem.width > 0 ? 8 : 0);
  paintIcon(painter, look.op, middle - 8, y, style.text);
  y += 20;
  drawLine(painter, texts.title, middle - texts.title.width / 2, y, style.text);
  y += 17;
  if (texts.name.width > 0) {
    drawLine(painter, texts.name, middle - texts.name.width / 2, y, style.text);
    y += 16;
  }
  drawLine(painter, texts.promise, middle - texts.promise.width / 2, y, style.textSecond);
  y += 16;
  if (texts.problem.width > 0) {
    drawLine(painter, texts.problem, middle - texts.problem.width / 2, y, style.error);
    paintWarning(painter, middle - 6, y + 16, style.error);
  }
  if (texts.scale > kNumberScale) return;
  if (look.muted)
    paintChip(painter, texts.chip, middle + texts.chip.width / 2 + 6, -9, style.textSecond, style.surface);
  if (look.collapsed || look.spread) {
    paintChip(painter, texts.hidden, middle + texts.hidden.width / 2 + 6, height - 9,
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
  for (std::size_t i = 0; i < look.inputs.size(); ++i) {
    const bool fits = marks.inputFits == -2 || marks.inputFits == static_cast<int>(i);
    const bool hidden =
        static_cast<qsizetype>(i) < look.labels.size() && look.labels[static_cast<qsizetype>(i)].isEmpty();
    if (hidden) continue;
    const bool numbered = look.pill && withText && texts.scale <= kNumberScale && i < texts.numbers.size();
    if (!numbered) {
      port(0, look.inputs[i], kPortRadius, fits);
      continue;
    }
    const TextLine& number = texts.numbers[i];
    if (number.width > 2 * kNumberRadius - 2) {  // of a stack: "4–20"
      const double half = number.width / 2 + 5;
      painter.setPen(QPen(fits ? style.accent : style.wire, fits ? 2 : 1.2));
      painter.setBrush(fits ? style.accentFill : style.surface);
      painter.drawRoundedRect(QRectF(-half, look.inputs[i] - kNumberRadius, 2 * half, 2 * kNumberRadius),
                              kNumberRadius, kNumberRadius);
    } else {
      port(0, look.inputs[i], kNumberRadius, fits);
    }
    drawLine(painter, number, -number.width / 2, look.inputs[i] - 7.5,
             look.taken[i] ? style.text : style.textThird);
  }
  // Nothing stands above a top: its output shows when one is about to use it.
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
  painter.fillRect(area, pattern);
}

/// Along the left edge of a card, under its surface. In slices: Qt hands a patterned fill of more rows to
/// other threads, whose waking takes ten times as long as the fill.
void paintPattern(QPainter& painter, const QRectF& rect, const QBrush& pattern) {
  constexpr double kMostRows = 64;  // of the screen
  const QTransform& device = painter.deviceTransform();
  const double zoom = device.m22();
  // Slices meet between two rows of the screen, so that no row is painted by both.
  const auto below = [&](double y) { return (std::ceil(y * zoom + device.dy()) - device.dy()) / zoom; };
  const double width = 2 * kRadius;
  const double first = below(rect.top() + kRadius);
  const double last = std::max(first, below(rect.bottom() - kRadius) - 1 / zoom);
  QPainterPath ends;  // with the rounded corners
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

/// The surface of a card with its stripe: of a stack the hues of all its members, from top to bottom.
void paintCard(QPainter& painter, const QRectF& rect, const NodeLook& look, const CanvasStyle& style) {
  const std::vector<int> hues = look.hues.empty() ? std::vector<int>{look.hue} : look.hues;
  painter.setPen(Qt::NoPen);
  if (hues.size() == 1 && !look.muted) {
    // The card's own shape in its hue, with the surface over the rest of it: quicker than a clip.
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
  const double sheets = look.stacked > 0 ? kSheets : 0;
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
  for (double out = sheets; out > 0; out -= kSheets / 2)
    painter.drawRoundedRect(rect.translated(out, out), radius, radius);
  if (!look.pill) {
    paintCard(painter, rect, look, style);
    painter.setBrush(Qt::NoBrush);
  }
  painter.setPen(pen);
  painter.drawRoundedRect(rect, radius, radius);
}

/// Of several frozen replies the first ones, a line each.
std::vector<TextLine> frozenLines(const QStringList& replies, const QFont& font, double width) {
  std::vector<TextLine> lines;
  for (qsizetype i = 0; i < std::min<qsizetype>(replies.size(), 2); ++i)
    lines.push_back(makeLine(tr("%1 · %2").arg(i + 1).arg(replies[i]), font, width));
  return lines;
}

}  // namespace

CanvasStyle::CanvasStyle(const Theme& of)
    : theme(of),
      surface(of.color(Role::Surface)),
      canvas(of.color(Role::Canvas)),
      grid(of.color(Role::Grid)),
      outline(of.color(Role::Outline)),
      wire(of.color(Role::Wire)),
      text(of.color(Role::Text)),
      textSecond(of.color(Role::TextSecond)),
      textThird(of.color(Role::TextThird)),
      accent(of.color(Role::Accent)),
      accentFill(of.color(Role::AccentFill)),
      error(of.color(Role::Error)),
      errorFill(of.color(Role::ErrorFill)),
      hit(of.color(Role::HitInk)),
      computed(of.color(Role::ComputedInk)),
      line(of.color(Role::Line)),
      titleFont(of.titleFont()),
      bodyFont(of.interfaceFont()),
      smallFont(of.smallFont()),
      monoFont(of.monoFont()) {
  bodyFont.setPixelSize(12);
  for (QFont* font : {&titleFont, &bodyFont, &smallFont, &monoFont}) {
    // Widths must not jump with the zoom.
    font->setHintingPreference(QFont::PreferNoHinting);
  }
  m_relocatedPattern = overlay(surface, BlockRole::Relocated);
  m_computedPattern = overlay(surface, BlockRole::Computed);
  for (std::size_t i = 0; i < m_segmentPatterns.size(); ++i)
    m_segmentPatterns[i] = theme.segmentPattern(i * kSegmentHues);
}

const QBrush& CanvasStyle::segmentPattern(std::size_t segment) const {
  return m_segmentPatterns[std::min(segment / kSegmentHues, m_segmentPatterns.size() - 1)];
}

QBrush CanvasStyle::servedInk(BlockRole role) const {
  return QBrush(theme.ink(role));
}

QBrush CanvasStyle::servedPattern(BlockRole role) const {
  if (role == BlockRole::Relocated) return m_relocatedPattern;
  if (role == BlockRole::Computed) return m_computedPattern;
  return {};
}

TextLine makeLine(const QString& text, const QFont& font, double width) {
  TextLine line;
  if (text.isEmpty()) return line;
  const QFontMetricsF metrics(font);
  const QString shown = metrics.elidedText(text, Qt::ElideRight, width);
  line.font = font;
  line.text.setTextFormat(Qt::PlainText);
  line.text.setText(shown);
  line.width = metrics.horizontalAdvance(shown);
  return line;
}

std::vector<TextLine> makeLines(const QString& text, const QFont& font, double width, int lines,
                                std::optional<double> lastWidth) {
  std::vector<TextLine> result;
  if (text.isEmpty() || lines <= 0) return result;
  // No more than could be seen is shaped: a document of thousands of words has a card of a few lines.
  constexpr double kLeastAdvance = 2;  // of a character, in pixels
  const QString seen = text.left(static_cast<qsizetype>(width / kLeastAdvance * (lines + 1)));
  QTextLayout layout(seen, font);
  layout.beginLayout();
  while (static_cast<int>(result.size()) < lines) {
    QTextLine line = layout.createLine();
    if (!line.isValid()) break;
    line.setLineWidth(width);
    const bool last = static_cast<int>(result.size()) == lines - 1;
    const QString shown = last ? seen.mid(line.textStart()) : seen.mid(line.textStart(), line.textLength());
    result.push_back(makeLine(shown.trimmed(), font, last ? lastWidth.value_or(width) : width));
  }
  layout.endLayout();
  return result;
}

QString fragmentsText(const NodeStatus& status) {
  if (status.fragments < 0) return {};
  if (status.fragments == 0) return tr("found nothing");
  const QString best = scoreText(status.bestScore);
  return status.fragments == 1 ? tr("1 fragment, score %1").arg(best)
                               : tr("%1 fragments, best %2").arg(status.fragments).arg(best);
}

QString stackText(const NodeStatus& status) {
  QStringList parts;
  if (status.tokens >= 0) parts.append(tr("%1 tokens").arg(grouped(status.tokens)));
  if (status.cachedPercent() >= 0) parts.append(tr("%1 % cached").arg(status.cachedPercent()));
  return parts.join(QStringLiteral(" · "));
}

double textScale(double zoom) {
  if (zoom >= kReadableZoom || zoom <= 0) return 1;
  return std::pow(kScaleStep, std::ceil(std::log(kReadableZoom / zoom) / std::log(kScaleStep) - 1e-9));
}

NodeTexts makeNodeTexts(const NodeLook& look, const NodeStatus& status, const NodeForecast* forecast,
                        const CanvasStyle& style, double scale) {
  NodeTexts texts;
  texts.scale = scale;
  if (look.pill) {
    const double width = look.rect.width / scale;
    texts.title = makeLine(look.title, style.titleFont, width - std::min(20.0, width / 6));
    texts.name = makeLine(look.name, style.smallFont, width - 20);
    if (scale <= kNumberScale) {
      texts.promise = makeLine(look.promise, style.smallFont, width - 8);
      for (const QString& label : look.labels) texts.numbers.push_back(makeLine(label, style.smallFont, 60));
    }
    texts.problem = makeLine(look.problem, style.smallFont, width - 8);
    if (look.spread) texts.hidden = makeLine(tr("stack"), style.smallFont, 80);
  } else {
    const CardPlan plan(look, scale);
    const double width = plan.width;
    const QString& more = look.name.isEmpty() ? look.identity : look.name;
    QString title = more.isEmpty() ? look.title : look.title + QStringLiteral(" · ") + more;
    if (width >= 130) {
      texts.count = look.stacked > 0
                        ? makeLine(width < 190 ? QStringLiteral("›") : tr("open ›"), style.smallFont, 90)
                        : makeLine(countText(look, status), style.monoFont, 90);
    }
    const double whole = width - plan.titleLeft - kRight - 8;
    const auto fits = [&](double room) {
      return QFontMetricsF(style.titleFont).horizontalAdvance(title) <= room;
    };
    // The number tells more than the role where there is no room for both, and the title more than the count.
    if (look.name.isEmpty() && !more.isEmpty() && !fits(whole - texts.count.width)) title = more;
    if (look.stacked == 0 && !fits(whole - texts.count.width) && fits(whole)) texts.count = {};
    const double room = whole - texts.count.width;
    texts.title = makeLine(title, style.titleFont, room);
    texts.problem = makeLine(look.problem, style.smallFont, width - kLeft - kRight - 16);
    const int share = status.cachedPercent();
    if (forecast != nullptr) texts.forecast = makeLine(forecastBadge(*forecast), style.smallFont, width / 2);
    if (status.looked >= 0) {
      // Beside a forecast in few words, so that cards of one list have room for both alike.
      const QString looked = forecast != nullptr ? tr("looked %1") : tr("looked at %1");
      texts.looked = makeLine(looked.arg(partText(status.looked)), style.smallFont, width / 2);
    }
    if (share >= 0 && look.stacked == 0)
      texts.share = makeLine(QStringLiteral("%1 %").arg(share), style.monoFont, kShareWidth);
    if (look.answers) {
      const double inner = plan.answer.width() - 16;
      texts.modelLine = makeLine(look.modelLine, style.bodyFont, width - kLeft - kRight);
      QString answer = look.isFrozen() ? look.frozen.first() : QString::fromStdString(status.answer);
      if (!look.isFrozen() && status.phase == NodePhase::Failed && !status.failure.empty()) {
        answer = QString::fromStdString(status.failure);
      }
      const bool streams = status.phase == NodePhase::Running && !look.isFrozen();
      // While it streams, the end of the answer is what is new.
      const QString flat = answer.simplified();
      const int lines = plan.bodyLines;
      texts.body = makeLines(streams && lines > 0 ? endOf(flat, style.bodyFont, inner, lines) : flat,
                             style.bodyFont, inner, lines);
      if (look.frozen.size() > 1) texts.body = frozenLines(look.frozen, style.bodyFont, inner);
      const double stateWidth = status.copies > 1 && !look.isFrozen() ? plan.answer.width() / 2 : inner;
      texts.state = makeLine(stateText(look, status), style.smallFont, stateWidth);
      if (status.copies > 1 && !look.isFrozen()) {
        texts.picker =
            makeLine(tr("%1 of %2 ›").arg(status.copy + 1).arg(status.copies), style.smallFont, 90);
      }
    } else {
      const double inner = width - kLeft - kRight;
      const QString found = look.stacked > 0 ? stackText(status) : fragmentsText(status);
      const int lines = std::max(0, plan.bodyLines - (found.isEmpty() ? 0 : 1));
      // Of a stack the first text stands for all where nothing is known of their tokens.
      const QString text = look.stacked > 0 && !found.isEmpty() ? QString() : look.text;
      // The cached share stands over the end of a line that reaches down to it.
      const bool besideShare =
          texts.share.width > 0 && plan.bodyTop + lines * kLineHeight > plan.shareTop + kShareRise;
      texts.body = makeLines(text, style.bodyFont, inner, lines,
                             besideShare ? std::optional(plan.bar.width()) : std::nullopt);
      if (!found.isEmpty() && plan.bodyLines > 0)
        texts.body.push_back(makeLine(found, style.bodyFont, inner));
    }
  }
  if (look.muted || look.isFrozen()) {
    texts.chip = makeLine(look.muted ? tr("muted") : tr("frozen"), style.smallFont, 80);
  }
  if (look.collapsed) texts.hidden = makeLine(tr("%1 hidden").arg(look.hidden), style.smallFont, 80);
  return texts;
}

QRectF pickerArea(const NodeLook& look, double scale) {
  const CardPlan plan(look, scale);
  if (!plan.hasState) return {};
  const QRectF box = plan.answer;
  return {(box.right() - 80) * scale, (box.bottom() - 20) * scale, 80 * scale, 20 * scale};
}

QRectF barArea(const NodeLook& look, double scale) {
  const QRectF bar = CardPlan(look, scale).bar;
  return {bar.topLeft() * scale, bar.size() * scale};
}

QRectF restackArea(const NodeLook& look) {
  if (!look.spread) return {};
  return {look.rect.width / 2 - 30, look.rect.height - 12, 60, 24};
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
  if (!look.pill) paintBar(painter, look, status, texts, marks, style, withText);
  if (texts.scale != 1) painter.setTransform(before);
  paintPorts(painter, look, texts, marks, style, withText);
  painter.setOpacity(opacity);
}

}  // namespace spanscope::ui
