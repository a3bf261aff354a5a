// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/pool_plot.h"

#include "ui/views/common/number_text.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

constexpr int kLegend = 20;  ///< height of the legend
constexpr int kMarks = 10;   ///< height of the row of evictions
constexpr int kSide = 8;
constexpr int kReach = 3;  ///< max pixels from the pointer to its eviction

struct Layer {
  std::int32_t PoolLevel::*blocks;
  Role role;
};
/// From the bottom to the top. Colours show how blocks serve a request. Greys show how full the pool is.
constexpr std::array<Layer, 3> kLayers{{{&PoolLevel::shared, Role::Text},
                                        {&PoolLevel::unshared, Role::TextThird},
                                        {&PoolLevel::cached, Role::Outline}}};

}  // namespace

PoolPlot::PoolPlot(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Pool over time"));
}

void PoolPlot::showLevels(const PoolLevels* levels, std::size_t total, std::size_t position,
                          const Theme& theme) {
  const bool isFewer = m_cursor && (levels == nullptr || *m_cursor >= levels->levels().size());
  if (isFewer || position != m_position) m_cursor.reset();
  m_levels = levels;
  m_total = total;
  m_position = position;
  m_theme = theme;
  const std::optional<std::size_t> change = current();
  setAccessibleDescription(change ? factsOf(*change) : QString());
  update();
}

QRect PoolPlot::plotIn(const QRect& area) const {
  const int labels = QFontMetrics(m_theme.smallFont()).horizontalAdvance(QString::number(top())) + 2 * kSpace;
  return area.adjusted(kSide + labels, kLegend + kMarks, -kSide, -kSide);
}

double PoolPlot::xIn(const QRect& plot, std::size_t position) const {
  return m_total == 0 ? plot.left()
                      : plot.left() + static_cast<double>(position) / static_cast<double>(m_total) *
                                          static_cast<double>(plot.width());
}

std::size_t PoolPlot::positionAt(const QRect& plot, double x) const {
  const double share = std::clamp((x - plot.left()) / std::max(1, plot.width()), 0.0, 1.0);
  return static_cast<std::size_t>(share * static_cast<double>(m_total));
}

std::int32_t PoolPlot::top() const {
  if (m_levels == nullptr) return 1;
  const std::int32_t all = std::max(1, m_levels->blocks());
  // If little of the pool is ever used, the used part fills most of the height.
  const std::int32_t used = m_levels->mostUsed() + m_levels->mostUsed() / 4 + 1;
  return std::min(all, used);
}

std::optional<std::size_t> PoolPlot::changeBefore(std::size_t position) const {
  if (m_levels == nullptr || m_levels->levels().empty()) return std::nullopt;
  const auto& levels = m_levels->levels();
  const auto behind =
      std::lower_bound(levels.begin(), levels.end(), position,
                       [](const PoolLevel& level, std::size_t event) { return level.event < event; });
  if (behind == levels.begin()) return std::nullopt;
  return static_cast<std::size_t>(behind - levels.begin()) - 1;
}

std::optional<std::size_t> PoolPlot::changeAt(double x) const {
  if (m_levels == nullptr || m_levels->levels().empty()) return std::nullopt;
  const QRect plot = plotIn(rect());
  const auto& evictions = m_levels->evictions();
  const std::size_t from = positionAt(plot, x - kReach);
  const auto next = std::lower_bound(evictions.begin(), evictions.end(), from == 0 ? 0 : from - 1);
  std::optional<std::size_t> nearest;
  for (auto eviction = next; eviction != evictions.end(); ++eviction) {
    const double distance = std::abs(xIn(plot, *eviction + 1) - x);
    if (distance > kReach && xIn(plot, *eviction + 1) > x) break;
    if (distance > kReach || (nearest && distance >= std::abs(xIn(plot, *nearest + 1) - x))) continue;
    nearest = *eviction;
  }
  if (nearest) return changeBefore(*nearest + 1);
  const std::optional<std::size_t> before = changeBefore(positionAt(plot, x + 0.5));
  return before ? before : std::optional<std::size_t>(0);
}

std::optional<std::size_t> PoolPlot::current() const {
  return m_cursor ? m_cursor : changeBefore(m_position);
}

double PoolPlot::xOf(std::size_t change) const {
  return xIn(plotIn(rect()), m_levels->levels()[change].event + 1);
}

QString PoolPlot::factsOf(std::size_t change) const {
  const PoolLevel& level = m_levels->levels()[change];
  QString text = tr("event %1 of %2").arg(level.event + 1).arg(m_total);
  if (m_names) text += tr(": %1").arg(m_names(level.event));
  return text + QLatin1Char('\n') + levelText(level);
}

void PoolPlot::paintLevels(QPainter& painter, const QRect& plot) const {
  const double scale = static_cast<double>(plot.height()) / top();
  const auto paintColumns = [&](int from, int to, const PoolLevel& level) {
    double bottom = plot.bottom() + 1;
    for (const Layer& layer : kLayers) {
      const double upper = bottom - scale * (level.*layer.blocks);
      const double y = std::max<double>(plot.top(), upper);
      painter.fillRect(QRectF(from, y, to - from, bottom - y), m_theme.color(layer.role));
      bottom = y;
    }
  };
  std::optional<std::size_t> shown;
  int from = plot.left();
  for (int x = plot.left(); x <= plot.right() + 1; ++x) {
    const std::optional<std::size_t> change =
        x > plot.right() ? std::nullopt : changeBefore(positionAt(plot, x + 1.0));
    if (change == shown && x <= plot.right()) continue;
    if (shown) paintColumns(from, x, m_levels->levels()[*shown]);
    shown = change;
    from = x;
  }
}

void PoolPlot::paintEvictions(QPainter& painter, const QRect& plot) const {
  const QColor ink = m_theme.color(Role::EvictedInk);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ink);
  double last = -10;
  for (auto eviction = m_levels->evictions().begin(); eviction != m_levels->evictions().end();) {
    const double x = xIn(plot, *eviction + 1);
    // Overlapping marks are painted once.
    if (x - last >= 2) {
      painter.drawPolygon(QPolygonF({QPointF(x - 4, plot.top() - kMarks + 1),
                                     QPointF(x + 4, plot.top() - kMarks + 1), QPointF(x, plot.top() - 1)}));
      last = x;
    }
    const std::size_t next = positionAt(plot, last + 2);
    eviction = std::lower_bound(std::next(eviction), m_levels->evictions().end(), next == 0 ? 0 : next - 1);
  }
}

void PoolPlot::paintLegend(QPainter& painter, const QRect& area) const {
  constexpr int kSwatch = 11;
  const QFontMetrics metrics(m_theme.smallFont());
  painter.setFont(m_theme.smallFont());
  int x = area.left() + kSide;
  const auto word = [&](const QString& text) {
    painter.setPen(m_theme.color(Role::TextSecond));
    painter.drawText(QRect(x, area.top(), area.width(), kLegend), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += metrics.horizontalAdvance(text) + 3 * kSpace;
  };
  const std::array<std::pair<QString, Role>, 4> entries{
      {{metricShortName("shared-blocks"), kLayers[0].role},
       {metricShortName("unshared-blocks"), kLayers[1].role},
       {metricShortName("cached-blocks"), kLayers[2].role},
       {metricShortName("free-blocks"), Role::Canvas}}};
  for (const auto& [text, role] : entries) {
    const QRect box(x, area.top() + (kLegend - kSwatch) / 2, kSwatch, kSwatch);
    painter.fillRect(box, m_theme.color(role));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(m_theme.color(Role::Line), 1));
    painter.drawRect(box.adjusted(0, 0, -1, -1));
    x += kSwatch + kSpace;
    word(text);
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(m_theme.color(Role::EvictedInk));
  const double middle = area.top() + kLegend / 2.0;
  painter.drawPolygon(
      QPolygonF({QPointF(x, middle - 4), QPointF(x + 8, middle - 4), QPointF(x + 4, middle + 4)}));
  x += 8 + kSpace;
  word(metricShortName("evicted-blocks"));
}

void PoolPlot::paint(QPainter& painter, const QRect& area) const {
  painter.fillRect(area, m_theme.color(Role::Surface));
  painter.setFont(m_theme.smallFont());
  if (m_levels == nullptr || m_levels->blocks() == 0) {
    painter.setPen(m_theme.color(Role::TextSecond));
    painter.drawText(area.adjusted(kSide, kSide, -kSide, -kSide), Qt::AlignCenter | Qt::TextWordWrap,
                     tr("Run a query to see how the pool fills."));
    return;
  }
  const QRect plot = plotIn(area);
  paintLegend(painter, area);
  painter.fillRect(plot, m_theme.color(Role::Canvas));
  painter.setPen(m_theme.color(Role::TextThird));
  painter.setFont(m_theme.smallFont());
  const QRect labels(area.left() + kSide, plot.top() - kSpace, plot.left() - area.left() - kSide - kSpace,
                     plot.height() + 2 * kSpace);
  painter.drawText(labels, Qt::AlignRight | Qt::AlignTop, QString::number(top()));
  painter.drawText(labels, Qt::AlignRight | Qt::AlignBottom, QStringLiteral("0"));
  painter.setRenderHint(QPainter::Antialiasing, false);
  paintLevels(painter, plot);
  painter.setRenderHint(QPainter::Antialiasing);
  paintEvictions(painter, plot);

  const double position = xIn(plot, m_position);
  QColor veil = m_theme.color(Role::Surface);
  veil.setAlphaF(0.55F);
  painter.fillRect(QRectF(position, plot.top() - kMarks, plot.right() + 1 - position, plot.height() + kMarks),
                   veil);
  if (top() < m_levels->blocks()) {
    const QString text = tr("of %1 blocks").arg(m_levels->blocks());
    const QFontMetrics metrics(m_theme.smallFont());
    const QRect place(plot.left() + kSpace, plot.top() + 2, metrics.horizontalAdvance(text) + 2 * kSpace,
                      metrics.height());
    painter.fillRect(place, m_theme.color(Role::Canvas));
    painter.setPen(m_theme.color(Role::TextThird));
    painter.drawText(place, Qt::AlignCenter, text);
  }
  painter.fillRect(QRectF(position - 1, plot.top() - kMarks, 2, plot.height() + kMarks),
                   m_theme.color(Role::Accent));
}

void PoolPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  paint(painter, rect());
  if (!hasFocus()) return;
  const QPen pen(m_theme.color(Role::Accent), 1);
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
  if (const std::optional<std::size_t> change = current()) {
    const QRect plot = plotIn(rect());
    painter.setPen(QPen(m_theme.color(Role::Accent), 1, Qt::DashLine));
    const double x = xOf(*change);
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
  }
}

void PoolPlot::moveTo(std::size_t change) {
  m_cursor = change;
  setAccessibleDescription(factsOf(change));
  update();
  Q_EMIT cursorMoved();
}

void PoolPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const std::optional<std::size_t> change = changeAt(event->position().x());
  if (!change) return;
  moveTo(*change);
  Q_EMIT chosen(m_levels->levels()[*change].event);
}

void PoolPlot::keyPressEvent(QKeyEvent* event) {
  const std::optional<std::size_t> now = current();
  if (m_levels == nullptr || m_levels->levels().empty()) {
    event->ignore();
    return;
  }
  const auto count = static_cast<std::int64_t>(m_levels->levels().size());
  const std::int64_t at = now ? static_cast<std::int64_t>(*now) : -1;
  const auto go = [&](std::int64_t to) {
    moveTo(static_cast<std::size_t>(std::clamp<std::int64_t>(to, 0, count - 1)));
  };
  const auto& evictions = m_levels->evictions();
  const std::size_t here = now ? m_levels->levels()[*now].event : 0;
  switch (event->key()) {
    case Qt::Key_Left:
      go(at - 1);
      break;
    case Qt::Key_Right:
      go(at + 1);
      break;
    case Qt::Key_PageUp:
      go(at + std::max<std::int64_t>(1, count / 20));
      break;
    case Qt::Key_PageDown:
      go(at - std::max<std::int64_t>(1, count / 20));
      break;
    case Qt::Key_Home:
      go(0);
      break;
    case Qt::Key_End:
      go(count - 1);
      break;
    case Qt::Key_Up: {
      const auto before = std::lower_bound(evictions.begin(), evictions.end(), here);
      if (before != evictions.begin()) moveTo(*changeBefore(*std::prev(before) + 1));
      break;
    }
    case Qt::Key_Down: {
      const auto after = std::upper_bound(evictions.begin(), evictions.end(), here);
      if (after != evictions.end()) moveTo(*changeBefore(*after + 1));
      break;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (now) Q_EMIT chosen(here);
      break;
    default:
      event->ignore();
  }
}

bool PoolPlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const std::optional<std::size_t> change = changeAt(help->pos().x());
  // Texts of a prompt may look like markup.
  const QString facts =
      change ? factsOf(*change).toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>")) : QString();
  QToolTip::showText(help->globalPos(), facts.isEmpty() ? facts : QStringLiteral("<p>%1</p>").arg(facts),
                     this);
  return true;
}

void PoolLevels::follow(const std::shared_ptr<const TraceStore>& trace) {
  if (trace != m_trace) *this = PoolLevels();
  m_trace = trace;
  for (; m_read < trace->size(); ++m_read) {
    const trace::Payload& payload = trace->event(m_read).payload;
    const auto* removed = std::get_if<trace::BlockRemoved>(&payload);
    if (removed != nullptr && removed->reason == trace::RemovalReason::Evicted) m_evictions.push_back(m_read);
    if (!take(payload)) continue;
    m_now.event = m_read;
    m_mostUsed = std::max(m_mostUsed, m_now.filled());
    m_levels.push_back(m_now);
  }
}

bool PoolLevels::take(const trace::Payload& payload) {
  if (const auto* allocated = std::get_if<trace::BlockAllocated>(&payload)) {
    set(allocated->block, 1, isCached(allocated->block));
  } else if (const auto* shared = std::get_if<trace::BlockShared>(&payload)) {
    set(shared->block, shared->references, isCached(shared->block));
  } else if (const auto* released = std::get_if<trace::BlockReleased>(&payload)) {
    set(released->block, released->references, isCached(released->block));
  } else if (const auto* stored = std::get_if<trace::BlockStored>(&payload)) {
    set(stored->block, referencesOf(stored->block), true);
  } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&payload)) {
    set(removed->block, referencesOf(removed->block), false);
  } else if (std::holds_alternative<trace::CacheCleared>(payload)) {
    for (std::size_t block = 0; block < m_blocks.size(); ++block)
      set(static_cast<BlockId>(block), m_blocks[block].references, false);
  } else if (const auto* session = std::get_if<trace::SessionStarted>(&payload)) {
    setAll(session->pool);
  } else if (const auto* snapshot = std::get_if<trace::Snapshot>(&payload)) {
    setAll(snapshot->pool);
  } else {
    return false;
  }
  return true;
}

void PoolLevels::setAll(const trace::PoolState& pool) {
  m_blocks.assign(pool.blocks.size(), Block());
  m_now = PoolLevel();
  for (std::size_t i = 0; i < pool.blocks.size(); ++i) {
    m_blocks[i] = {.references = pool.blocks[i].references, .cached = pool.blocks[i].cached};
    if (i != static_cast<std::size_t>(kNullBlock)) count(m_blocks[i], 1);
  }
}

void PoolLevels::count(const Block& block, std::int32_t by) {
  m_now.count(block.references, block.cached, by);
}

void PoolLevels::set(BlockId block, std::int32_t references, bool cached) {
  const auto index = static_cast<std::size_t>(block);
  if (block == kNullBlock || index >= m_blocks.size()) return;
  count(m_blocks[index], -1);
  m_blocks[index] = {.references = references, .cached = cached};
  count(m_blocks[index], 1);
}

bool PoolLevels::isCached(BlockId block) const {
  const auto index = static_cast<std::size_t>(block);
  return index < m_blocks.size() && m_blocks[index].cached;
}

std::int32_t PoolLevels::referencesOf(BlockId block) const {
  const auto index = static_cast<std::size_t>(block);
  return index < m_blocks.size() ? m_blocks[index].references : 0;
}

QString levelText(const PoolLevel& level) {
  const metrics::PoolFacts pool{.blocks = level};
  QStringList phrases;
  for (const char* const id : {"unshared-blocks", "shared-blocks", "cached-blocks", "free-blocks"})
    phrases << metricPhraseOf(id, pool);
  return phrases.join(tr(", "));
}

QString poolLevelsCsv(const std::shared_ptr<const TraceStore>& trace) {
  PoolLevels levels;
  levels.follow(trace);
  QStringList titles{tr("event"), tr("time s"), tr("run"), tr("request")};
  for (const char* const id :
       {"shared-blocks", "unshared-blocks", "cached-blocks", "free-blocks", "evicted-blocks"})
    titles << metricHeading(id);
  QString text = csvLine(titles);
  auto eviction = levels.evictions().begin();
  for (const PoolLevel& level : levels.levels()) {
    while (eviction != levels.evictions().end() && *eviction < level.event) ++eviction;
    const bool evicts = eviction != levels.evictions().end() && *eviction == level.event;
    const trace::Event& event = trace->event(level.event);
    text += csvLine({QString::number(level.event + 1), csvNumber(static_cast<double>(event.time) * 1e-9),
                     event.run == 0 ? QString() : QString::number(event.run),
                     event.request == 0 ? QString() : QString::number(event.request),
                     QString::number(level.shared), QString::number(level.unshared),
                     QString::number(level.cached), QString::number(level.free), evicts ? tr("1") : tr("0")});
  }
  return text;
}

}  // namespace spanscope::ui
