// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/metrics/metric_card.h"

#include "ui/theme/pattern_painting.h"
#include "ui/views/common/plot_painting.h"
#include "ui/views/common/table_view.h"

#include <QClipboard>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr double kReach = 14;  ///< max pixels from the pointer to its point
/// More marks in a series overlap, so that their shapes cannot be distinguished. Painting them would take
/// most of the time.
constexpr std::size_t kMostMarks = 400;
constexpr int kTitleTop = 4;
constexpr int kValueTop = 24;
constexpr int kHeaderLine = 20;
constexpr int kSampleWidth = 24;  ///< of a legend, without the name

QCPScatterStyle markerOf(const PlotSeries& series, const Theme& theme, double size) {
  return {series.square ? QCPScatterStyle::ssSquare : QCPScatterStyle::ssCircle,
          QPen(theme.ink(series.role), 1.5), QBrush(theme.color(Role::Surface)), size};
}

/// A series that is not drawn needs no name.
bool isNamed(const PlotSeries& series) {
  return !series.name.isEmpty() && !series.points.empty();
}

/// Bars with a pattern over their fill.
class PatternBars : public QCPBars {
 public:
  PatternBars(QCPAxis* keys, QCPAxis* values, const QBrush& pattern)
      : QCPBars(keys, values), m_pattern(pattern) {}

 protected:
  void draw(QCPPainter* painter) override {
    QCPBars::draw(painter);
    if (m_pattern.style() == Qt::NoBrush) return;
    if (!paintsVectors(*painter)) {
      std::swap(mBrush, m_pattern);
      QCPBars::draw(painter);
      std::swap(mBrush, m_pattern);
      return;
    }
    for (const QCPBarsData& bar : *data()) fillPattern(*painter, getBarRect(bar.key, bar.value), m_pattern);
  }

 private:
  QBrush m_pattern;
};

}  // namespace

MetricCard::MetricCard(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(200, 170);
  m_plot->setFocusPolicy(Qt::NoFocus);
  m_plot->setMouseTracking(true);
  m_plot->installEventFilter(this);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2 * kSpace, kHeader, 2 * kSpace, kSpace);
  layout->addWidget(m_plot);
  addKeys(*this, tr("Show previous point"), {Qt::Key_Left}, [this] { move(-1); });
  addKeys(*this, tr("Show next point"), {Qt::Key_Right}, [this] { move(1); });
  addKeys(*this, tr("Select request of point"), {Qt::Key_Return, Qt::Key_Enter, Qt::Key_Space},
          [this] { choose(); });
  addKeys(*this, tr("Copy points"), {QKeySequence::Copy}, [this] { copy(); });
}

void MetricCard::setContent(const MetricCardContent& content, const Theme& theme) {
  if (m_built && content == m_content && theme == m_theme) return;
  m_content = content;
  m_theme = theme;
  m_built = true;
  m_cursor = std::min(m_cursor, static_cast<int>(points().size()) - 1);
  setAccessibleName(content.title);
  setAccessibleDescription(tr("%1 %2. %3 Left and Right move between points.")
                               .arg(content.value, content.change, content.explanation));
  setToolTip(content.change.isEmpty() ? content.explanation
                                      : content.change + QStringLiteral("\n") + content.explanation);
  rebuild();
  update();
}

void MetricCard::rebuild() {
  m_plot->clearPlottables();
  stylePlot(*m_plot, m_theme);
  m_plot->xAxis->setLabel(m_content.xName);
  m_plot->yAxis->setLabel(m_content.yName);
  m_plot->xAxis->setTickLabels(true);
  if (m_content.wholeX) {
    auto ticker = QSharedPointer<QCPAxisTickerFixed>::create();
    ticker->setTickStep(1);
    ticker->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    ticker->setTickCount(6);
    m_plot->xAxis->setTicker(ticker);
    m_plot->xAxis->setNumberFormat(QStringLiteral("f"));
    m_plot->xAxis->setNumberPrecision(0);
  } else {
    auto ticker = QSharedPointer<QCPAxisTicker>::create();
    ticker->setTickCount(4);
    m_plot->xAxis->setTicker(ticker);
    m_plot->xAxis->setNumberFormat(QStringLiteral("g"));
    m_plot->xAxis->setNumberPrecision(4);
  }
  // Ticks are few enough that labels do not touch in a low card.
  m_plot->yAxis->ticker()->setTickStepStrategy(QCPAxisTicker::tssMeetTickCount);
  m_plot->yAxis->ticker()->setTickCount(3);
  m_plot->yAxis->setNumberFormat(QStringLiteral("g"));
  m_plot->yAxis->setNumberPrecision(6);
  QCPBars* below = nullptr;
  for (const PlotSeries& series : m_content.series) addSeries(series, below);
  setRanges();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void MetricCard::addSeries(const PlotSeries& series, QCPBars*& below) {
  const QColor ink = m_theme.ink(series.role);
  const bool isCrowded = series.points.size() > kMostMarks;
  if (series.kind == SeriesKind::Bars) {
    auto* bars = new PatternBars(m_plot->xAxis, m_plot->yAxis, m_theme.pattern(series.role));
    bars->setWidth(isCrowded ? 1 : 0.6);
    bars->setPen(isCrowded ? QPen(Qt::NoPen) : QPen(ink, 1));
    bars->setBrush(m_theme.fill(series.role));
    bars->setAntialiased(false);
    if (below != nullptr) bars->moveAbove(below);
    QVector<double> xs;
    QVector<double> ys;
    for (const PlotPoint& point : series.points) {
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
    bars->setData(xs, ys, true);
    below = bars;
    return;
  }
  QCPGraph* graph = m_plot->addGraph();
  const bool area = series.kind == SeriesKind::Area;
  const bool markers = series.kind == SeriesKind::Markers;
  QPen pen(ink, markers ? 1 : 1.5);
  if (series.dashed) pen.setDashPattern({4, 3});
  graph->setPen(pen);
  graph->setLineStyle(markers ? QCPGraph::lsNone : area ? QCPGraph::lsStepLeft : QCPGraph::lsLine);
  if (area) {
    graph->setBrush(m_theme.fill(series.role));
    graph->setAntialiased(false);
  } else if (!isCrowded) {
    graph->setScatterStyle(markerOf(series, m_theme, markers ? 7 : 5));
  } else if (markers) {
    graph->setScatterStyle({QCPScatterStyle::ssDot, QPen(ink, 2), Qt::NoBrush, 2});
    graph->setAntialiasedScatters(false);
  }
  QVector<double> xs;
  QVector<double> ys;
  for (const PlotPoint& point : series.points) {
    xs.push_back(point.x);
    ys.push_back(point.y);
  }
  graph->setData(xs, ys, true);
}

void MetricCard::setRanges() {
  double left = 0;
  double right = 1;
  double top = 0;
  bool any = false;
  for (const PlotSeries& series : m_content.series) {
    for (const PlotPoint& point : series.points) {
      left = any ? std::min(left, point.x) : point.x;
      right = any ? std::max(right, point.x) : point.x;
      top = std::max(top, point.y);
      any = true;
    }
  }
  const double air = m_content.wholeX ? 0.5 : 0;
  m_plot->xAxis->setRange(left - air, right > left || air > 0 ? right + air : left + 1);
  m_plot->yAxis->setRange(0, m_content.yTop.value_or(top > 0 ? top * 1.12 : 1));
}

void MetricCard::paintHeader(QPainter& painter, const QRect& area) const {
  const int left = area.left() + 3 * kSpace;
  const int right = area.right() - 2 * kSpace;
  painter.setFont(m_theme.titleFont());
  painter.setPen(m_theme.color(Role::Text));
  const QFontMetrics title(m_theme.titleFont());
  painter.drawText(QRect(left, area.top() + kTitleTop, right - left, kHeaderLine),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   title.elidedText(m_content.title, Qt::ElideRight, right - left));

  QFont bold = m_theme.interfaceFont();
  bold.setWeight(QFont::DemiBold);
  painter.setFont(bold);
  int x = left;
  painter.drawText(QRect(x, area.top() + kValueTop, right - x, kHeaderLine), Qt::AlignLeft | Qt::AlignVCenter,
                   m_content.value);
  x += QFontMetrics(bold).horizontalAdvance(m_content.value) + 2 * kSpace;
  painter.setFont(m_theme.smallFont());
  const QFontMetrics small(m_theme.smallFont());
  painter.setPen(m_theme.color(m_content.verdict > 0   ? Role::HitInk
                               : m_content.verdict < 0 ? Role::ComputedInk
                                                       : Role::TextThird));
  const std::vector<std::optional<QRect>> places = legend(area.width());
  int free = right;
  for (const std::optional<QRect>& place : places) {
    if (place && place->top() == kValueTop) free = std::min(free, area.left() + place->left());
  }
  if (x + small.horizontalAdvance(m_content.change) <= free) {
    painter.drawText(QRect(x, area.top() + kValueTop, std::max(0, right - x), kHeaderLine),
                     Qt::AlignLeft | Qt::AlignVCenter, m_content.change);
  }
  std::size_t named = 0;
  for (const PlotSeries& series : m_content.series) {
    if (!isNamed(series)) continue;
    if (const std::optional<QRect>& place = places[named++])
      paintSample(painter, place->translated(area.topLeft()), series);
  }
}

std::vector<std::optional<QRect>> MetricCard::legend(int width) const {
  std::vector<std::optional<QRect>> places = legendBeside(width, m_content.change);
  // If the names of lines do not fit, the change is only in the tool tip.
  return std::count(places.begin(), places.end(), std::nullopt) > 0 ? legendBeside(width, {}) : places;
}

std::vector<std::optional<QRect>> MetricCard::legendBeside(int width, const QString& changeText) const {
  const QFontMetrics small(m_theme.smallFont());
  QFont bold = m_theme.interfaceFont();
  bold.setWeight(QFont::DemiBold);
  const int left = 3 * kSpace;
  const int right = width - 1 - 2 * kSpace;
  const int change = changeText.isEmpty() ? 0 : small.horizontalAdvance(changeText) + 2 * kSpace;
  struct Line {
    int top;
    int begin;
    int end;
  };
  std::array<Line, 2> lines{
      {{kTitleTop, left + QFontMetrics(m_theme.titleFont()).horizontalAdvance(m_content.title) + 2 * kSpace,
        right},
       {kValueTop, left + QFontMetrics(bold).horizontalAdvance(m_content.value) + 2 * kSpace + change,
        right}}};
  std::vector<std::optional<QRect>> places;
  // Each line starts at the right.
  for (auto series = m_content.series.rbegin(); series != m_content.series.rend(); ++series) {
    if (!isNamed(*series)) continue;
    const int wanted = small.horizontalAdvance(series->name) + kSampleWidth;
    std::optional<QRect>& place = places.emplace_back();
    for (Line& line : lines) {
      if (line.end - wanted < line.begin) continue;
      place = QRect(line.end - wanted, line.top, wanted, kHeaderLine);
      line.end -= wanted + 2 * kSpace;
      break;
    }
  }
  std::reverse(places.begin(), places.end());
  return places;
}

void MetricCard::paintSample(QPainter& painter, const QRect& place, const PlotSeries& series) const {
  const QColor ink = m_theme.ink(series.role);
  const int middle = place.center().y();
  if (series.kind == SeriesKind::Bars || series.kind == SeriesKind::Area) {
    const QRect box(place.left(), middle - 5, 14, 10);
    painter.fillRect(box, m_theme.fill(series.role));
    if (series.kind == SeriesKind::Bars) fillPattern(painter, box, m_theme.pattern(series.role));
    painter.setPen(QPen(ink, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box);
  } else {
    QPen pen(ink, 1.5);
    if (series.dashed) pen.setDashPattern({2, 2});
    painter.setPen(pen);
    if (series.kind == SeriesKind::Line) painter.drawLine(place.left(), middle, place.left() + 16, middle);
    painter.setPen(QPen(ink, 1.5));
    painter.setBrush(m_theme.color(Role::Surface));
    const QRect mark(place.left() + 5, middle - 3, 6, 6);
    if (series.square) {
      painter.drawRect(mark);
    } else {
      painter.drawEllipse(mark);
    }
  }
  painter.setPen(m_theme.color(Role::TextSecond));
  painter.drawText(place.adjusted(20, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, series.name);
}

void MetricCard::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), m_theme.color(Role::Surface));
  paintHeader(painter, rect());
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(m_theme.color(hasFocus() ? Role::Accent : Role::Line), 1));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kDockRadius, kDockRadius);
}

void MetricCard::paint(QPainter& painter, const QRect& area) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(area, m_theme.color(Role::Surface));
  paintPlot(*m_plot, painter, area.adjusted(2 * kSpace, kHeader, -2 * kSpace, -kSpace));
  paintHeader(painter, area);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(m_theme.color(Role::Line), 1));
  painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), kDockRadius, kDockRadius);
  painter.restore();
}

std::vector<const PlotPoint*> MetricCard::points() const {
  std::vector<const PlotPoint*> all;
  for (const PlotSeries& series : m_content.series) {
    for (const PlotPoint& point : series.points) {
      if (!point.text.isEmpty()) all.push_back(&point);
    }
  }
  return all;
}

const PlotPoint* MetricCard::pointAt(const QPointF& place) const {
  const PlotPoint* nearest = nullptr;
  double best = kReach;
  for (const PlotPoint* point : points()) {
    const QPointF at(m_plot->xAxis->coordToPixel(point->x), m_plot->yAxis->coordToPixel(point->y));
    const double distance = std::hypot(at.x() - place.x(), at.y() - place.y());
    if (distance >= best) continue;
    best = distance;
    nearest = point;
  }
  return nearest;
}

void MetricCard::showPoint(const PlotPoint& point) {
  const QPoint at(static_cast<int>(m_plot->xAxis->coordToPixel(point.x)),
                  static_cast<int>(m_plot->yAxis->coordToPixel(point.y)));
  setAccessibleDescription(point.text);
  QToolTip::showText(m_plot->mapToGlobal(at), point.text, m_plot);
}

bool MetricCard::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_plot) return QWidget::eventFilter(watched, event);
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const PlotPoint* point = pointAt(help->pos());
    QToolTip::showText(help->globalPos(), point == nullptr ? m_content.explanation : point->text, m_plot);
    return true;
  }
  if (event->type() == QEvent::MouseButtonPress) setFocus(Qt::MouseFocusReason);
  if (event->type() == QEvent::MouseButtonRelease) {
    const PlotPoint* point = pointAt(static_cast<QMouseEvent*>(event)->position());
    if (point != nullptr && point->tag >= 0) Q_EMIT pointChosen(point->tag);
  }
  return QWidget::eventFilter(watched, event);
}

void MetricCard::move(int steps) {
  const std::vector<const PlotPoint*> all = points();
  if (all.empty()) return;
  const int last = static_cast<int>(all.size()) - 1;
  m_cursor = m_cursor < 0 ? last : std::clamp(m_cursor + steps, 0, last);
  showPoint(*all[static_cast<std::size_t>(m_cursor)]);
}

void MetricCard::choose() {
  const std::vector<const PlotPoint*> all = points();
  if (m_cursor < 0 || m_cursor >= static_cast<int>(all.size())) return;
  const int tag = all[static_cast<std::size_t>(m_cursor)]->tag;
  if (tag >= 0) Q_EMIT pointChosen(tag);
}

void MetricCard::copy() const {
  QStringList lines;
  for (const PlotPoint* point : points()) lines += point->text;
  QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

void MetricCard::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void MetricCard::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

}  // namespace spanscope::ui
