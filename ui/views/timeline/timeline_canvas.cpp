// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/timeline_canvas.h"

#include "ui/theme/pattern_painting.h"
#include "ui/views/common/number_text.h"
#include "ui/words/tr.h"

#include <QApplication>
#include <QFontMetrics>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {

namespace {

constexpr int kLeastRow = 32;
constexpr int kMostRow = 64;   ///< of few rows in a high dock
constexpr int kBarSpace = 12;  ///< how much lower a bar is than its row
constexpr double kText = 14;
constexpr int kAxis = 28;
constexpr int kRight = 20;
constexpr int kMargin = 12;
constexpr double kWheelStep = 1.25;
constexpr double kShortest = 1000;  ///< nanoseconds across the width at the largest zoom

}  // namespace

double TimelineCanvas::Frame::x(double nanoseconds) const {
  const double share = (nanoseconds - begin) / std::max(1.0, end - begin);
  return labels + share * std::max(1, width - labels - kRight);
}

TimelineCanvas::TimelineCanvas(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  verticalScrollBar()->setSingleStep(kLeastRow);
}

void TimelineCanvas::setContent(const TimelineModel& model, const Theme& theme,
                                std::optional<RequestId> selected) {
  const bool otherRun = model.runs != m_model.runs;
  m_model = model;
  m_theme = theme;
  m_selected = selected;
  if (otherRun || m_fitted) fit();
  updateScrollBar();
  viewport()->update();
}

void TimelineCanvas::fit() {
  m_begin = 0;
  m_end = std::max(kShortest, static_cast<double>(m_model.end - m_model.begin));
  m_fitted = true;
  viewport()->update();
}

void TimelineCanvas::setRange(double begin, double end) {
  const double most = std::max(kShortest, static_cast<double>(m_model.end - m_model.begin));
  const double length = std::clamp(end - begin, kShortest, most);
  m_begin = std::clamp(begin, 0.0, most - length);
  m_end = m_begin + length;
  m_fitted = length >= most;
  viewport()->update();
}

void TimelineCanvas::zoom(double factor, double x) {
  const Frame now = frame();
  const double share = std::clamp((x - now.labels) / std::max(1, now.width - now.labels - kRight), 0.0, 1.0);
  const double place = m_begin + share * (m_end - m_begin);
  const double length = std::clamp((m_end - m_begin) / factor, kShortest,
                                   std::max(kShortest, static_cast<double>(m_model.end - m_model.begin)));
  setRange(place - share * length, place + (1 - share) * length);
}

int TimelineCanvas::topSpace() const {
  return m_model.starts.empty() ? 2 * kSpace : 6 * kSpace;
}

int TimelineCanvas::labelWidth() const {
  QFont font = m_theme.interfaceFont();
  font.setWeight(QFont::DemiBold);
  const QFontMetrics metrics(font);
  int widest = 40;
  for (const TimelineRow& row : m_model.rows) widest = std::max(widest, metrics.horizontalAdvance(row.name));
  if (m_model.runs.size() > 1) widest += metrics.horizontalAdvance(tr("%1 · ").arg(m_model.runs.back()));
  return std::min(widest, 160) + kMargin + 3 * kSpace;
}

int TimelineCanvas::rowHeight() const {
  const int rows = std::max(1, static_cast<int>(m_model.rows.size()));
  return std::clamp((viewport()->height() - topSpace() - kAxis) / rows, kLeastRow, kMostRow);
}

TimelineCanvas::Frame TimelineCanvas::frame() const {
  // The axis stands below the last row, or at the lower edge where rows have to be scrolled.
  const int rows = static_cast<int>(m_model.rows.size());
  return {.labels = labelWidth(),
          .top = topSpace(),
          .width = viewport()->width(),
          .height = std::min(viewport()->height(), topSpace() + rowHeight() * rows + kAxis),
          .row = rowHeight(),
          .offset = verticalScrollBar()->value(),
          .begin = m_begin,
          .end = m_end};
}

QSize TimelineCanvas::contentSize() const {
  return {std::max(640, viewport()->width()),
          topSpace() + kLeastRow * static_cast<int>(m_model.rows.size()) + kAxis};
}

void TimelineCanvas::paintAll(QPainter& painter, const QSize& size) const {
  const QSize natural = contentSize();
  const double scale = std::min(static_cast<double>(size.width()) / natural.width(),
                                static_cast<double>(size.height()) / natural.height());
  Frame whole = frame();
  whole.width = static_cast<int>(size.width() / scale);
  whole.height = natural.height();
  whole.row = kLeastRow;
  whole.offset = 0;
  whole.begin = 0;
  whole.end = std::max(kShortest, static_cast<double>(m_model.end - m_model.begin));
  painter.save();
  painter.scale(scale, scale);
  paint(painter, whole);
  painter.restore();
}

QRectF TimelineCanvas::rectOf(const Frame& frame, std::size_t row, double begin, double end) const {
  const double x = frame.x(begin);
  const double y = frame.top + frame.row * static_cast<double>(row) - frame.offset + kBarSpace / 2.0;
  return {x, y, std::max(1.0, frame.x(end) - x), static_cast<double>(frame.row - kBarSpace)};
}

QRectF TimelineCanvas::barRect(std::size_t row, const TimelineBar& bar) const {
  return rectOf(frame(), row, static_cast<double>(bar.begin - m_model.begin),
                static_cast<double>(bar.end - m_model.begin));
}

void TimelineCanvas::paint(QPainter& painter, const Frame& frame) const {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(m_theme.smallFont());
  paintAxis(painter, frame);
  painter.save();
  painter.setClipRect(QRect(0, frame.top - 1, frame.width, frame.height - frame.top - kAxis + 1),
                      Qt::IntersectClip);
  for (std::size_t row = 0; row < m_model.rows.size(); ++row) {
    const double y = frame.top + frame.row * static_cast<double>(row) - frame.offset;
    if (y + frame.row < frame.top || y > frame.height - kAxis) continue;
    paintRow(painter, frame, row);
  }
  painter.restore();
  paintStarts(painter, frame);
}

void TimelineCanvas::paintAxis(QPainter& painter, const Frame& frame) const {
  const int bottom = frame.height - kAxis;
  painter.setPen(QPen(m_theme.color(Role::Grid), 1));
  painter.drawLine(QPointF(frame.labels, bottom + 0.5), QPointF(frame.width - kRight, bottom + 0.5));
  painter.setFont(m_theme.monoFont());
  const int most = std::max(2, (frame.width - frame.labels) / 120);
  const QFontMetricsF metrics(m_theme.monoFont());
  const std::vector<double> ticks = axisTicks(frame.begin * 1e-6, frame.end * 1e-6, most);
  const double step = ticks.size() < 2 ? (frame.end - frame.begin) * 1e-6 : ticks[1] - ticks[0];
  for (const double tick : ticks) {
    const double x = std::round(frame.x(tick * 1e6)) + 0.5;
    painter.setPen(QPen(m_theme.color(Role::Grid), 1));
    painter.drawLine(QPointF(x, frame.top), QPointF(x, bottom));
    painter.setPen(m_theme.color(Role::TextSecond));
    const QString text = axisTickText(tick, step);
    const double wide = std::ceil(metrics.horizontalAdvance(text)) + 2;
    const double left = std::max(0.0, std::min(x - wide / 2, frame.width - wide));
    painter.drawText(QRectF(left, bottom + 6, wide, 16), Qt::AlignHCenter | Qt::AlignTop, text);
  }
}

void TimelineCanvas::paintRow(QPainter& painter, const Frame& frame, std::size_t index) const {
  const TimelineRow& row = m_model.rows[index];
  const double y = frame.top + frame.row * static_cast<double>(index) - frame.offset;
  if (m_selected == row.request) {
    painter.fillRect(QRectF(0, y, frame.width, frame.row), m_theme.color(Role::AccentFill));
    painter.fillRect(QRectF(0, y, 3, frame.row), m_theme.color(Role::Accent));
  }
  painter.setPen(QPen(m_theme.color(Role::Line), 1));
  painter.drawLine(QPointF(frame.labels, y + frame.row - 0.5),
                   QPointF(frame.width - kRight, y + frame.row - 0.5));

  QFont font = m_theme.interfaceFont();
  font.setWeight(QFont::DemiBold);
  painter.setFont(font);
  painter.setPen(m_theme.color(row.failed ? Role::Error : Role::Text));
  const QString name = m_model.runs.size() > 1 ? tr("%1 · %2").arg(row.run).arg(row.name) : row.name;
  const int room = frame.labels - kMargin - 2 * kSpace;
  painter.drawText(QRectF(kMargin, y, room, frame.row), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetrics(font).elidedText(name, Qt::ElideRight, room));

  painter.save();
  painter.setClipRect(QRectF(frame.labels, y, frame.width - frame.labels - kRight / 2.0, frame.row),
                      Qt::IntersectClip);
  painter.setFont(m_theme.smallFont());
  const QFontMetrics metrics(m_theme.smallFont());
  for (const TimelineBar& bar : row.bars) {
    const QRectF area = rectOf(frame, index, static_cast<double>(bar.begin - m_model.begin),
                               static_cast<double>(bar.end - m_model.begin));
    if (area.right() < frame.labels || area.left() > frame.width) continue;
    const bool waiting = bar.kind == BarKind::Waiting;
    const bool loading = bar.kind == BarKind::Loading;
    const BlockRole role = loading                       ? BlockRole::Free
                           : bar.kind == BarKind::Decode ? BlockRole::Hit
                                                         : BlockRole::Computed;
    const QColor ink = waiting   ? m_theme.color(Role::TextThird)
                       : loading ? m_theme.color(Role::TextSecond)
                                 : m_theme.ink(role);
    if (waiting) {
      painter.setPen(QPen(ink, 1, Qt::DotLine));
      painter.drawLine(QPointF(area.left(), area.center().y()), QPointF(area.right(), area.center().y()));
    } else {
      painter.setPen(Qt::NoPen);
      painter.setBrush(m_theme.fill(role));
      painter.drawRoundedRect(area, 3, 3);
      fillPattern(painter, area, m_theme.pattern(role), 3);
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(ink, 1));
      if (area.width() > 3) painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
      if (area.width() <= 3) painter.fillRect(area, ink);
    }
    const QRectF shown = area.intersected(QRectF(frame.labels, y, frame.width - frame.labels, frame.row));
    // The last pass over the prompt gives the first token of a reply, so decoding adds the others.
    const QString tokens = bar.kind == BarKind::Decode ? tr("%1 more tokens").arg(bar.tokens)
                           : bar.tokens == 1           ? tr("1 token")
                                                       : tr("%1 tokens").arg(bar.tokens);
    for (const QString& text :
         {waiting ? barName(bar.kind) : tr("%1 %2").arg(barName(bar.kind), tokens), barName(bar.kind)}) {
      const double width = metrics.horizontalAdvance(text) + 2.0 * kSpace;
      if (width > shown.width() - 2 * kSpace) continue;
      const QRectF place(shown.left() + 6, area.center().y() - kText / 2, width, kText);
      painter.fillRect(place, waiting ? m_theme.color(Role::Surface) : m_theme.fill(role));
      painter.setPen(ink);
      painter.drawText(place, Qt::AlignCenter, text);
      break;
    }
  }
  if (row.admittedAt >= 0 && row.prompt.relocated > 0) {
    // Reading from the cache takes no time of its own in the trace, so it is a mark of fixed size at
    // admission.
    const double x = frame.x(static_cast<double>(row.admittedAt - m_model.begin));
    const QRectF mark(x - 4, y + kBarSpace / 2.0 - 3, 8, frame.row - kBarSpace + 6);
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_theme.fill(BlockRole::Relocated));
    painter.drawRoundedRect(mark, 2, 2);
    fillPattern(painter, mark, m_theme.pattern(BlockRole::Relocated), 2);
    painter.setPen(QPen(m_theme.ink(BlockRole::Relocated), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(mark, 2, 2);
  }
  painter.restore();
}

void TimelineCanvas::paintStarts(QPainter& painter, const Frame& frame) const {
  painter.setFont(m_theme.smallFont());
  const QFontMetrics metrics(m_theme.smallFont());
  double used = -1;
  for (const TimelineStart& start : m_model.starts) {
    const double x = std::round(frame.x(static_cast<double>(start.time - m_model.begin))) + 0.5;
    if (x < frame.labels || x > frame.width - kRight) continue;
    painter.setPen(QPen(m_theme.color(Role::Accent), 1, Qt::DashLine));
    painter.drawLine(QPointF(x, kSpace), QPointF(x, frame.height - kAxis));
    const double width = metrics.horizontalAdvance(start.text) + 2 * kSpace;
    // The text stands at the left if there is no room at the right.
    const double left = x + 6 + width > frame.width ? std::max(0.0, x - 6 - width) : x + 6;
    if (left < used) continue;
    used = left + width;
    const QRectF place(left, 2, width, 18);
    painter.fillRect(place, m_theme.color(Role::Surface));
    painter.setPen(m_theme.color(Role::Accent));
    painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, start.text);
  }
}

int TimelineCanvas::rowAt(double y) const {
  const Frame now = frame();
  if (y < now.top || y > now.height - kAxis) return -1;
  const int row = static_cast<int>((y - now.top + now.offset) / now.row);
  return row < static_cast<int>(m_model.rows.size()) ? row : -1;
}

QString TimelineCanvas::factsAt(const QPointF& place) const {
  const int row = rowAt(place.y());
  if (row < 0) return {};
  const TimelineRow& shown = m_model.rows[static_cast<std::size_t>(row)];
  for (const TimelineBar& bar : shown.bars) {
    if (barRect(static_cast<std::size_t>(row), bar).adjusted(-1, -4, 1, 4).contains(place)) {
      return timelineFacts(m_model, shown, bar);
    }
  }
  return timelineFacts(m_model, shown);
}

void TimelineCanvas::updateScrollBar() {
  const int content = rowHeight() * static_cast<int>(m_model.rows.size());
  const int room = viewport()->height() - topSpace() - kAxis;
  verticalScrollBar()->setPageStep(std::max(1, room));
  verticalScrollBar()->setRange(0, std::max(0, content - room));
}

void TimelineCanvas::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), m_theme.color(Role::Surface));
  if (m_model.rows.empty()) return;
  paint(painter, frame());
  if (hasFocus()) {
    painter.setPen(QPen(m_theme.color(Role::Accent), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(viewport()->rect()).adjusted(0.5, 0.5, -0.5, -0.5));
  }
}

void TimelineCanvas::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  updateScrollBar();
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  m_pressed = event->position();
  m_dragged = false;
  m_beginAtPress = m_begin;
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event) {
  if (!m_pressed) return;
  const double way = event->position().x() - m_pressed->x();
  if (!m_dragged && std::abs(way) < QApplication::startDragDistance()) return;
  m_dragged = true;
  const Frame now = frame();
  const double moved = way * (m_end - m_begin) / std::max(1, now.width - now.labels - kRight);
  setRange(m_beginAtPress - moved, m_beginAtPress - moved + (m_end - m_begin));
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !m_pressed) return;
  m_pressed.reset();
  if (m_dragged) return;
  if (const int row = rowAt(event->position().y()); row >= 0) Q_EMIT rowClicked(row);
}

void TimelineCanvas::wheelEvent(QWheelEvent* event) {
  if ((event->modifiers() & Qt::ShiftModifier) != 0) {
    QAbstractScrollArea::wheelEvent(event);
    return;
  }
  zoom(std::pow(kWheelStep, event->angleDelta().y() / 120.0), event->position().x());
  event->accept();
}

void TimelineCanvas::keyPressEvent(QKeyEvent* event) {
  const double step = (m_end - m_begin) / 8;
  int current = -1;
  for (std::size_t i = 0; i < m_model.rows.size(); ++i) {
    if (m_selected == m_model.rows[i].request) current = static_cast<int>(i);
  }
  const int rows = static_cast<int>(m_model.rows.size());
  const Frame now = frame();
  const double middle = now.labels + (now.width - now.labels) / 2.0;
  switch (event->key()) {
    case Qt::Key_F:
    case Qt::Key_Home:
      fit();
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      zoom(kWheelStep, middle);
      return;
    case Qt::Key_Minus:
      zoom(1 / kWheelStep, middle);
      return;
    case Qt::Key_Left:
      setRange(m_begin - step, m_end - step);
      return;
    case Qt::Key_Right:
      setRange(m_begin + step, m_end + step);
      return;
    case Qt::Key_Up:
    case Qt::Key_Down: {
      if (rows == 0) return;
      const int next =
          current < 0 ? 0 : std::clamp(current + (event->key() == Qt::Key_Up ? -1 : 1), 0, rows - 1);
      const int y = next * rowHeight();
      QScrollBar* bar = verticalScrollBar();
      bar->setValue(std::clamp(bar->value(), y + rowHeight() - bar->pageStep(), y));
      Q_EMIT rowClicked(next);
      return;
    }
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

bool TimelineCanvas::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), factsAt(help->pos()), viewport());
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TimelineCanvas::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  viewport()->update();
}

void TimelineCanvas::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

std::vector<double> axisTicks(double begin, double end, int most) {
  if (!(end > begin) || most < 1) return {};
  const double rough = (end - begin) / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.9999999) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  const auto first = static_cast<long long>(std::ceil(begin / step - 1e-9));
  const auto last = static_cast<long long>(std::floor(end / step + 1e-9));
  for (long long i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

QString axisTickText(double milliseconds, double step) {
  constexpr double kSecond = 1000;
  const auto number = [](double value) { return QString::number(value, 'g', 9); };
  return step >= kSecond * (1 - 1e-9) ? tr("%1 s").arg(number(milliseconds / kSecond))
                                      : tr("%1 ms").arg(number(milliseconds));
}

}  // namespace spanscope::ui
