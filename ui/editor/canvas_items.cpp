// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas_items.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spanscope::ui {

double zoomOf(const QPainter& painter) {
  const QTransform& transform = painter.worldTransform();
  return std::hypot(transform.m11(), transform.m12());
}

NodeItem::NodeItem(document::NodeId id, SharedStyle style) : m_id(id), m_style(std::move(style)) {
  setZValue(2);
}

void NodeItem::setLook(const NodeLook& look) {
  if (look == m_look) return;
  setPos(look.rect.x, look.rect.y);
  NodeLook same = look;
  same.rect.x = m_look.rect.x;
  same.rect.y = m_look.rect.y;
  if (same == m_look) {  // the node has only moved
    m_look = look;
    return;
  }
  const QRectF bounds = paintedArea(look);
  if (bounds != m_bounds) {
    prepareGeometryChange();
    m_bounds = bounds;
  }
  m_look = look;
  m_texts.reset();
  update();
}

void NodeItem::setStatus(const NodeStatus& status) {
  if (status == m_status) return;
  m_status = status;
  m_texts.reset();
  update();
}

void NodeItem::setPrediction(const NodePrediction* prediction) {
  if (prediction == nullptr ? !m_prediction : m_prediction == *prediction) return;
  m_prediction = prediction == nullptr ? std::nullopt : std::optional(*prediction);
  m_texts.reset();
  update();
}

void NodeItem::setMarks(const NodeMarks& marks) {
  NodeMarks next = marks;
  next.motion = m_marks.motion;
  if (next == m_marks) return;
  m_marks = next;
  update();
}

void NodeItem::setStyle(const SharedStyle& style) {
  m_style = style;
  m_texts.reset();
  update();
}

void NodeItem::setMotion(double motion) {
  if (!isRunning() || m_marks.motion == motion) return;
  m_marks.motion = motion;
  // A sign has its bar at another place.
  update(m_isSign ? boundingRect() : barArea(m_look, m_scale));
}

void NodeItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* /*option*/, QWidget* /*widget*/) {
  const double zoom = zoomOf(*painter);
  m_isSign = zoom < kTextZoom;
  if (!m_isSign) {
    m_scale = textScale(zoom);
    if (!m_texts || m_texts->scale != m_scale)
      m_texts = makeNodeTexts(m_look, m_status, m_prediction ? &*m_prediction : nullptr, *m_style, m_scale);
  }
  static const NodeTexts none;
  paintNode(*painter, m_look, m_status, m_texts ? *m_texts : none, m_marks, *m_style, zoom);
}

WireItem::WireItem(SharedStyle style) : m_style(std::move(style)) {
  setZValue(1);
}

void WireItem::setEnds(QPointF from, QPointF to, const std::vector<QPointF>& bends) {
  if (from == m_from && to == m_to && bends == m_bends) return;
  prepareGeometryChange();
  m_from = from;
  m_to = to;
  m_bends = bends;
  m_path = QPainterPath(from);
  for (const QPointF bend : bends) {
    const QPointF start = m_path.currentPosition();
    const double pull = std::min(std::abs(bend.x() - start.x()) / 2, 60.0);
    if (std::abs(bend.y() - start.y()) < 0.5)
      m_path.lineTo(bend);
    else
      m_path.cubicTo(start + QPointF(pull, 0), bend - QPointF(pull, 0), bend);
  }
  from = m_path.currentPosition();
  if (std::abs(from.y() - to.y()) < 0.5 && to.x() > from.x()) {
    m_path.lineTo(to);
  } else {
    const double reach = std::max(24.0, std::min(std::abs(to.x() - from.x()) / 2, 90.0));
    // The wire bends near the input. Long wires are horizontal before the bend, so that the wires do not
    // cross other nodes.
    const double bend = to.x() - std::max(0.0, std::min(to.x() - from.x(), 72.0));
    if (bend > from.x() + 1) m_path.lineTo(bend, from.y());
    const QPointF start = m_path.currentPosition();
    const double pull = bend > from.x() + 1 ? std::min(reach, 36.0) : reach;
    m_path.cubicTo(start + QPointF(pull, 0), to - QPointF(pull, 0), to);
  }
}

void WireItem::setLook(Look look) {
  if (look == m_look) return;
  m_look = look;
  setZValue(look == Look::Loose ? 4 : look == Look::Plain ? 1 : 1.5);
  update();
}

void WireItem::setMuted(bool muted) {
  if (muted == m_muted) return;
  m_muted = muted;
  update();
}

void WireItem::setChosenBend(std::optional<std::size_t> index) {
  if (index == m_chosenBend) return;
  m_chosenBend = index;
  update();
}

void WireItem::setStyle(const SharedStyle& style) {
  m_style = style;
  update();
}

std::size_t WireItem::bendIndexAt(QPointF point) const {
  std::vector<QPointF> corners{m_from};
  corners.insert(corners.end(), m_bends.begin(), m_bends.end());
  corners.push_back(m_to);
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
    const QPointF along = corners[i + 1] - corners[i];
    const double square = QPointF::dotProduct(along, along);
    const double share = square > 0 ? QPointF::dotProduct(point - corners[i], along) / square : 0;
    const QPointF away = corners[i] + std::clamp(share, 0.0, 1.0) * along - point;
    const double distance = std::hypot(away.x(), away.y());
    if (distance >= least) continue;
    least = distance;
    nearest = i;
  }
  return nearest;
}

double WireItem::distance(QPointF point) const {
  double nearest = 1e9;
  const int steps = 48 * (static_cast<int>(m_bends.size()) + 1);
  for (int i = 0; i <= steps; ++i) {
    const QPointF on = m_path.pointAtPercent(static_cast<double>(i) / steps) - point;
    nearest = std::min(nearest, std::hypot(on.x(), on.y()));
  }
  return nearest;
}

void WireItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* /*option*/, QWidget* /*widget*/) {
  const double zoom = zoomOf(*painter);
  const bool plain = m_look == Look::Plain;
  QPen pen(plain ? m_style->wire : m_style->accent, m_look == Look::Target ? 4 : plain ? 1.5 : 2);
  if (m_look == Look::Loose) pen.setStyle(Qt::DashLine);
  if (zoom < kShapeZoom) {
    painter->setRenderHint(QPainter::Antialiasing, false);
    pen.setWidthF(0);
    painter->setPen(pen);
    QPointF from = m_from;
    for (const QPointF bend : m_bends) painter->drawLine(std::exchange(from, bend), bend);
    painter->drawLine(from, m_to);
    return;
  }
  painter->setRenderHint(QPainter::Antialiasing, true);
  const double opacity = painter->opacity();
  if (m_muted) painter->setOpacity(opacity * 0.4);
  painter->setPen(pen);
  painter->setBrush(Qt::NoBrush);
  painter->drawPath(m_path);
  painter->setPen(Qt::NoPen);
  painter->setBrush(pen.color());
  for (const QPointF bend : m_bends) painter->drawEllipse(bend, kBendSize / 2, kBendSize / 2);
  if (m_chosenBend && *m_chosenBend < m_bends.size()) {
    painter->setPen(QPen(m_style->accent, 1.5));
    painter->setBrush(m_style->surface);
    painter->drawEllipse(m_bends[*m_chosenBend], kBendSize * 0.75, kBendSize * 0.75);
  }
  painter->setOpacity(opacity);
}

AreaItem::AreaItem(bool isNote, SharedStyle style) : m_isNote(isNote), m_style(std::move(style)) {
  setZValue(isNote ? 3 : 0);
}

void AreaItem::setContent(const QString& text, const document::Rect& area, std::size_t hue) {
  if (text == m_text && area == m_area && hue == m_hue) return;
  prepareGeometryChange();
  m_text = text;
  m_area = area;
  m_hue = hue;
  setPos(area.x, area.y);
  update();
}

void AreaItem::setSelected(bool selected) {
  if (selected == m_selected) return;
  m_selected = selected;
  update();
}

void AreaItem::setStyle(const SharedStyle& style) {
  m_style = style;
  update();
}

void AreaItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* /*option*/, QWidget* /*widget*/) {
  const double zoom = zoomOf(*painter);
  const QRectF rect(0, 0, m_area.width, m_area.height);
  const QColor ink = m_style->theme.segmentInk(m_hue);
  painter->setRenderHint(QPainter::Antialiasing, zoom >= kShapeZoom);
  QPen pen(m_selected ? m_style->accent : m_isNote ? m_style->outline : ink, m_selected ? 2 : 1);
  if (m_isNote && !m_selected) pen.setDashPattern({2, 3});
  painter->setPen(pen);
  QColor fill = m_style->theme.segmentTint(m_hue);
  if (!m_isNote) fill.setAlphaF(0.35F);
  painter->setBrush(m_isNote ? m_style->surface : fill);
  painter->drawRoundedRect(rect, 8, 8);
  if (zoom < kTextZoom && m_isNote) return;
  if (m_isNote) {
    painter->setPen(m_style->text);
    painter->setFont(m_style->bodyFont);
    painter->drawText(rect.adjusted(12, 8, -12, -8), Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop, m_text);
  }
  if (m_selected) {
    painter->setPen(QPen(m_style->accent, 1.5));
    for (const double inset : {4.0, 8.0}) {
      painter->drawLine(rect.bottomRight() - QPointF(inset + 3, 3),
                        rect.bottomRight() - QPointF(3, inset + 3));
    }
  }
}

FrameTitleItem::FrameTitleItem(SharedStyle style) : m_style(std::move(style)) {
  setZValue(2.5);
}

void FrameTitleItem::setContent(const QString& text, const document::Rect& area, std::size_t hue) {
  if (text == m_text && area == m_area && hue == m_hue) return;
  prepareGeometryChange();
  m_text = text;
  m_area = area;
  m_hue = hue;
  setPos(area.x, area.y);
  update();
}

void FrameTitleItem::setStyle(const SharedStyle& style) {
  m_style = style;
  update();
}

QRectF FrameTitleItem::boundingRect() const {
  return {0, 0, m_area.width, kFrameTitleHeight * textScale(kShapeZoom)};
}

QRectF FrameTitleItem::labelAt(double zoom) const {
  const double scale = textScale(std::max(zoom, kShapeZoom));
  const double room = std::max(0.0, m_area.width - 12);
  const double wanted = (QFontMetricsF(m_style->titleFont).horizontalAdvance(m_text) + 14) * scale;
  return {6, 4, std::min(room, wanted), 20 * scale};
}

void FrameTitleItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* /*option*/,
                           QWidget* /*widget*/) {
  const double zoom = zoomOf(*painter);
  if (zoom < kShapeZoom || m_text.isEmpty()) return;
  const double scale = textScale(zoom);
  const QRectF label = labelAt(zoom);
  painter->setRenderHint(QPainter::Antialiasing, true);
  painter->setPen(Qt::NoPen);
  painter->setBrush(m_style->theme.segmentTint(m_hue));
  painter->drawRoundedRect(label, 4 * scale, 4 * scale);
  const QTransform before = painter->transform();
  painter->translate(label.topLeft());
  painter->scale(scale, scale);
  const QRectF inside(6, 0, label.width() / scale - 12, label.height() / scale);
  painter->setPen(m_style->theme.segmentInk(m_hue));
  painter->setFont(m_style->titleFont);
  painter->drawText(inside, Qt::AlignLeft | Qt::AlignVCenter,
                    QFontMetricsF(m_style->titleFont).elidedText(m_text, Qt::ElideRight, inside.width()));
  painter->setTransform(before);
}

}  // namespace spanscope::ui
