// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/cell_chart.h"

#include <QAccessible>
#include <QAccessibleEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <cmath>

namespace spanscope::ui {
namespace {

constexpr int kReadout = 22;  // pixels of the line below

}  // namespace

CellChart::CellChart(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
}

QRectF CellChart::chartArea() const {
  return QRectF(rect()).adjusted(0, 0, 0, -kReadout);
}

void CellChart::contentChanged(const Theme& theme) {
  m_theme = theme;
  setMinimumHeight(heightFor(width()) + kReadout);
  m_cells = layOut(chartArea());
  m_pointed.reset();
  if (m_chosen && *m_chosen >= m_cells.size()) m_chosen.reset();
  choose(m_chosen);
  update();
}

void CellChart::paint(QPainter& painter, const QRect& area) {
  draw(painter, area);
}

QString CellChart::readout() const {
  const std::optional<std::size_t> shown = m_pointed ? m_pointed : m_chosen;
  return shown ? m_cells[*shown].text : QString();
}

void CellChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  draw(painter, chartArea());
  if (m_chosen) {
    const QRectF place = m_cells[*m_chosen].place;
    painter.setBrush(Qt::NoBrush);
    // Two rings, so that one of them stands out from any colour of a cell.
    painter.setPen(QPen(m_theme.color(Role::Surface), 4));
    painter.drawRect(place);
    painter.setPen(QPen(m_theme.color(Role::Accent), 2));
    painter.drawRect(place);
  }
  const QString said = readout();
  painter.setFont(m_theme.smallFont());
  painter.setPen(m_theme.color(said.isEmpty() ? Role::TextThird : Role::Text));
  const QRect line(0, height() - kReadout, width(), kReadout);
  const QString text = !said.isEmpty() ? said
                       : hasFocus()    ? tr("Arrow keys go from cell to cell.")
                                       : tr("The pointer or the arrow keys read single cells.");
  painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft,
                   painter.fontMetrics().elidedText(text, Qt::ElideRight, line.width()));
}

void CellChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  setMinimumHeight(heightFor(width()) + kReadout);
  m_cells = layOut(chartArea());
  m_pointed.reset();
}

std::optional<std::size_t> CellChart::at(const QPointF& place) const {
  for (std::size_t i = 0; i < m_cells.size(); ++i) {
    if (m_cells[i].place.contains(place)) return i;
  }
  return std::nullopt;
}

void CellChart::choose(std::optional<std::size_t> cell) {
  m_chosen = cell;
  setAccessibleDescription(cell ? m_cells[*cell].text : QString());
  QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&changed);
  update();
}

/// To the nearest one that lies that way.
void CellChart::moveBy(int right, int down) {
  constexpr double kAside = 4;  // so much more counts what lies beside the way than what lies along it
  if (m_cells.empty()) return;
  if (!m_chosen) {
    choose(0);
    return;
  }
  const QPointF from = m_cells[*m_chosen].place.center();
  std::optional<std::size_t> nearest;
  double least = 0;
  for (std::size_t i = 0; i < m_cells.size(); ++i) {
    const QPointF way = m_cells[i].place.center() - from;
    const double along = way.x() * right + way.y() * down;
    const double aside = std::abs(right != 0 ? way.y() : way.x());
    if (along < 1) continue;
    const double distance = along + kAside * aside;
    if (nearest && distance >= least) continue;
    nearest = i;
    least = distance;
  }
  if (nearest) choose(nearest);
}

void CellChart::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      moveBy(-1, 0);
      return;
    case Qt::Key_Right:
      moveBy(1, 0);
      return;
    case Qt::Key_Up:
      moveBy(0, -1);
      return;
    case Qt::Key_Down:
      moveBy(0, 1);
      return;
    case Qt::Key_Home:
      if (!m_cells.empty()) choose(0);
      return;
    case Qt::Key_End:
      if (!m_cells.empty()) choose(m_cells.size() - 1);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void CellChart::mouseMoveEvent(QMouseEvent* event) {
  const std::optional<std::size_t> pointed = at(event->position());
  if (pointed == m_pointed) return;
  m_pointed = pointed;
  update();
}

void CellChart::mousePressEvent(QMouseEvent* event) {
  choose(at(event->position()));
}

void CellChart::leaveEvent(QEvent*) {
  m_pointed.reset();
  update();
}

void CellChart::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void CellChart::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

}  // namespace spanscope::ui
