// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/turn/turn_drawing.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPolygonF>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spanscope::ui {
namespace {

constexpr int kTitle = 18;
constexpr int kLegend = 22;
constexpr int kLinesBelow = 3;  ///< of text, below a circle
constexpr int kTip = 18;        // pixels

double lengthOf(const run::PlanePoint& point) {
  return std::hypot(point.x, point.y);
}

/// A point on its way around the middle, to the left as angles grow, by less than a whole turn.
run::PlanePoint onTheTurn(const run::PlanePoint& from, const run::PlanePoint& to, double share) {
  const double begin = std::atan2(from.y, from.x);
  double way = std::atan2(to.y, to.x) - begin;
  way -= 2 * std::numbers::pi * std::floor(way / (2 * std::numbers::pi));
  const double length = lengthOf(from);
  return {.x = length * std::cos(begin + share * way), .y = length * std::sin(begin + share * way)};
}

}  // namespace

TurnDrawing::TurnDrawing(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Drawing of the turn"));
}

void TurnDrawing::setContent(const TurnModel& model, const Theme& theme) {
  m_model = model;
  m_theme = theme;
  setAccessibleDescription(turnSentence(model));
  update();
}

void TurnDrawing::setTurned(double share) {
  if (share == m_turned) return;
  m_turned = share;
  update();
}

void TurnDrawing::paintArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& ink,
                             Head head, bool isTurned) const {
  QPen pen(ink, isTurned ? 2.5 : 1.2);
  if (!isTurned) pen.setStyle(Qt::DashLine);
  painter.setPen(pen);
  painter.drawLine(from, to);
  const QPointF along = to - from;
  const double length = std::hypot(along.x(), along.y());
  if (length < 1) return;
  const QPointF unit = along / length;
  const QPointF across(-unit.y(), unit.x());
  painter.setPen(QPen(ink, 1.2));
  painter.setBrush(isTurned ? QBrush(ink) : QBrush(m_theme.color(Role::Surface)));
  if (head == Head::Triangle) {
    painter.drawPolygon(QPolygonF({to, to - 9 * unit + 4.5 * across, to - 9 * unit - 4.5 * across}));
  } else {
    painter.drawRect(QRectF(to - QPointF(3.5, 3.5), QSizeF(7, 7)));
  }
  painter.setBrush(Qt::NoBrush);
}

void TurnDrawing::paintPlace(QPainter& painter, const QRectF& area, const TurnPlace& place, double longest,
                             bool isStored, double turned) const {
  const QFontMetrics metrics(m_theme.smallFont());
  painter.setFont(m_theme.smallFont());
  painter.setPen(m_theme.color(Role::TextSecond));
  const QStringList below{
      tr("key by %1: %2°").arg(place.keyTurn).arg(degreesOf(place.shown.frequency, place.keyTurn), 0, 'f', 1),
      tr("query by %1: %2°")
          .arg(place.queryTurn)
          .arg(degreesOf(place.shown.frequency, place.queryTurn), 0, 'f', 1),
      tr("pair %1 · all %2").arg(place.shown.score, 0, 'f', 3).arg(place.score, 0, 'f', 3)};
  const int line = metrics.height() + 1;
  double y = area.bottom() - line * kLinesBelow;
  for (const QString& text : below) {
    painter.drawText(QRectF(area.left(), y, area.width(), line), Qt::AlignHCenter | Qt::AlignVCenter,
                     metrics.elidedText(text, Qt::ElideRight, int(area.width())));
    y += line;
  }
  const auto [middle, radius, room] = circleIn(area);
  // The angle between the turned arrows, from the key on.
  const auto angleOf = [](const run::PlanePoint& point) {
    return std::atan2(point.y, point.x) * 180 / std::numbers::pi;
  };
  double between = angleOf(place.shown.turnedQuery) - angleOf(place.shown.turnedKey);
  between -= 360 * std::round(between / 360);
  // In a small circle the angle would hide the arrows.
  constexpr double kLeastRadius = 45;
  const bool isSmall = radius < kLeastRadius;
  const QString text = tr("%1°").arg(std::abs(between), 0, 'f', 1);
  painter.setFont(m_theme.titleFont());
  painter.setPen(m_theme.color(Role::Text));
  painter.drawText(QRectF(area.left(), area.top(), area.width(), kTitle), Qt::AlignHCenter | Qt::AlignVCenter,
                   QFontMetrics(m_theme.titleFont())
                       .elidedText(isSmall ? tr("%1: %2").arg(place.title, text) : place.title,
                                   Qt::ElideRight, int(area.width())));
  painter.setFont(m_theme.smallFont());
  painter.setPen(QPen(m_theme.color(Role::Grid), 1));
  painter.drawEllipse(middle, radius, radius);
  painter.drawLine(middle - QPointF(radius, 0), middle + QPointF(radius, 0));
  painter.drawLine(middle - QPointF(0, radius), middle + QPointF(0, radius));
  // y grows upwards in the plane, so that angles turn to the left.
  const auto at = [&](const run::PlanePoint& point) {
    return middle + QPointF(point.x, -point.y) * (radius / std::max(1e-12, longest));
  };
  const QColor keyInk = m_theme.segmentInk(m_model.keyHue);
  const QColor queryInk = m_theme.color(Role::Accent);
  paintArrow(painter, middle, at(place.shown.key), keyInk, Head::Square, false);
  paintArrow(painter, middle, at(place.shown.query), queryInk, Head::Triangle, false);
  if (turned < 1) {
    // A key that was turned when it was stored stands, however the query is turned.
    const run::PlanePoint key =
        isStored ? place.shown.turnedKey : onTheTurn(place.shown.key, place.shown.turnedKey, turned);
    paintArrow(painter, middle, at(key), keyInk, Head::Square, true);
    paintArrow(painter, middle, at(onTheTurn(place.shown.query, place.shown.turnedQuery, turned)), queryInk,
               Head::Triangle, true);
    return;
  }
  const double arc = radius * 0.35;
  painter.setPen(QPen(m_theme.color(Role::TextSecond), 1.5));
  painter.drawArc(QRectF(middle.x() - arc, middle.y() - arc, 2 * arc, 2 * arc),
                  static_cast<int>(16 * angleOf(place.shown.turnedKey)), static_cast<int>(16 * between));
  paintArrow(painter, middle, at(place.shown.turnedKey), keyInk, Head::Square, true);
  paintArrow(painter, middle, at(place.shown.turnedQuery), queryInk, Head::Triangle, true);
  if (isSmall) return;
  const double half = (angleOf(place.shown.turnedKey) + between / 2) * std::numbers::pi / 180;
  const QPointF label = middle + QPointF(std::cos(half), -std::sin(half)) * (arc + 16);
  const double width = metrics.horizontalAdvance(text) + 4;
  const QRectF box(label.x() - width / 2, label.y() - line / 2.0, width, line);
  QColor behind = m_theme.color(Role::Surface);
  behind.setAlphaF(0.8F);
  painter.fillRect(box, behind);
  painter.setPen(m_theme.color(Role::Text));
  painter.drawText(box, Qt::AlignCenter, text);
}

TurnDrawing::Circle TurnDrawing::circleIn(const QRectF& area) const {
  const int line = QFontMetrics(m_theme.smallFont()).height() + 1;
  const double room = area.height() - kTitle - line * kLinesBelow - 2 * kSpace;
  return {.middle = QPointF(area.center().x(), area.top() + kTitle + kSpace + room / 2),
          .radius = std::max(10.0, std::min(room, area.width() - 4 * kSpace) / 2 - 2),
          .room = room};
}

QRectF TurnDrawing::areaOf(std::size_t place, const QRect& area) const {
  const auto count = static_cast<double>(m_model.places.size());
  const double width = (area.width() - kSpace * (count - 1)) / count;
  return {area.left() + static_cast<double>(place) * (width + kSpace), double(area.top()), width,
          double(area.height() - kLegend)};
}

double TurnDrawing::longest() const {
  double most = 0;
  for (const TurnPlace& place : m_model.places)
    most = std::max({most, lengthOf(place.shown.query), lengthOf(place.shown.key),
                     lengthOf(place.shown.turnedQuery), lengthOf(place.shown.turnedKey)});
  return most;
}

std::vector<QRect> TurnDrawing::tips(Arrow arrow) const {
  std::vector<QRect> tips;
  const double most = std::max(1e-12, longest());
  for (std::size_t i = 0; i < m_model.places.size(); ++i) {
    const Circle circle = circleIn(areaOf(i, rect()));
    const run::TurnedPair& shown = m_model.places[i].shown;
    const run::PlanePoint& point = arrow == Arrow::Key ? shown.turnedKey : shown.turnedQuery;
    const QPointF tip = circle.middle + QPointF(point.x, -point.y) * (circle.radius / most);
    tips.emplace_back(tip.toPoint() - QPoint(kTip / 2, kTip / 2), QSize(kTip, kTip));
  }
  return tips;
}

void TurnDrawing::paint(QPainter& painter, const QRect& area, double turned) const {
  if (!m_model.isComputed) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const double most = longest();
  for (std::size_t i = 0; i < m_model.places.size(); ++i)
    paintPlace(painter, areaOf(i, area), m_model.places[i], most, i == 0, turned);
  // Heads and dashes say what colours say.
  const QFontMetrics metrics(m_theme.smallFont());
  double x = area.left();
  const double y = area.bottom() - kLegend / 2.0;
  painter.setFont(m_theme.smallFont());
  const auto sample = [&](const QString& text, const QColor& ink, Head head, bool isTurned) {
    const double end = x + 26 + metrics.horizontalAdvance(text);
    if (end > area.right()) return;
    paintArrow(painter, {x, y}, {x + 20, y}, ink, head, isTurned);
    painter.setPen(m_theme.color(Role::TextSecond));
    painter.drawText(QRectF(x + 28, y - 8, end - x, 16), Qt::AlignLeft | Qt::AlignVCenter, text);
    x = end + 4 * kSpace;
  };
  const QColor keyInk = m_theme.segmentInk(m_model.keyHue);
  const QColor queryInk = m_theme.color(Role::Accent);
  sample(tr("key, turned"), keyInk, Head::Square, true);
  sample(tr("query, turned"), queryInk, Head::Triangle, true);
  sample(tr("key before"), keyInk, Head::Square, false);
  sample(tr("query before"), queryInk, Head::Triangle, false);
  painter.restore();
}

void TurnDrawing::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  paint(painter, rect(), m_turned);
}

}  // namespace spanscope::ui
