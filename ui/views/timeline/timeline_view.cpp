// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/timeline_view.h"

#include "ui/theme/pattern_painting.h"
#include "ui/views/common/block_painter.h"
#include "ui/words/tr.h"

#include <QApplication>
#include <QComboBox>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStringList>
#include <QStyledItemDelegate>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {

namespace {

constexpr int kLeastLane = 32;
constexpr int kMostLane = 64;  ///< of few rows in a high dock
constexpr int kLeastLaneWidth = 120;
constexpr int kMostStepWidth = 200;
constexpr int kBarSpace = 12;  ///< how much lower a bar is than its row
constexpr double kText = 14;
constexpr double kShortestText = 32;  ///< pixels of a bar that has room for a word
constexpr int kAxis = 28;
constexpr int kStarts = 20;  ///< the line above the axis with the texts of starts
constexpr int kRight = 20;
constexpr double kWheelStep = 1.25;
constexpr double kShortest = 1000;  ///< nanoseconds across the width at the largest zoom

/// The time axis, above the lanes.
class TimeAxis : public TableHead {
 public:
  explicit TimeAxis(TimelineTable* table) : TableHead(table), m_table(*table) {}

  QSize sizeHint() const override { return {TableHead::sizeHint().width(), m_table.axisHeight()}; }

 protected:
  void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override {
    TableHead::initStyleOptionForIndex(option, section);
    if (section == TimelineTable::Lane) option->text.clear();
  }
  void paintSection(QPainter* painter, const QRect& rect, int section) const override {
    painter->save();
    TableHead::paintSection(painter, rect, section);
    painter->restore();
    if (section == TimelineTable::Lane) m_table.paintAxis(*painter, rect, m_table.scale());
  }
  /// Only steps can be sorted.
  void mousePressEvent(QMouseEvent* event) override {
    if (logicalIndexAt(event->position().toPoint()) != TimelineTable::Lane) TableHead::mousePressEvent(event);
  }

 private:
  const TimelineTable& m_table;
};

class LaneDelegate : public QStyledItemDelegate {
 public:
  explicit LaneDelegate(TimelineTable* table) : QStyledItemDelegate(table), m_table(*table) {}

  QString displayText(const QVariant& /*value*/, const QLocale& /*locale*/) const override { return {}; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    m_table.paintLane(*painter, option.rect, m_table.scale(), m_table.rowOf(index));
  }
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& /*option*/,
                 const QModelIndex& /*index*/) override {
    QToolTip::showText(event->globalPos(), m_table.factsAt(event->pos()), view);
    return true;
  }

 private:
  const TimelineTable& m_table;
};

PaintedTable tableOf(const TimelineModel& model) {
  PaintedTable table{.headers = {tr("Step"), tr("Time")}, .shares = {1, 4}, .rows = {}};
  for (const TimelineRow& row : model.rows) {
    const QString facts = timelineFacts(model, row);
    const QString name = model.runs.size() > 1 ? tr("%1 · %2").arg(row.run).arg(row.name) : row.name;
    table.rows.push_back(
        {{.text = name, .ink = row.failed ? Role::Error : Role::Text, .bold = true, .help = facts},
         {.text = facts}});
  }
  return table;
}

}  // namespace

double TimelineTable::Scale::x(double nanoseconds) const {
  return left + width * (nanoseconds - begin) / std::max(1.0, end - begin);
}

TimelineTable::TimelineTable(QWidget* parent)
    : TableView(tr("Requests over time"), RowOrder::Sortable, parent), m_items(new PaintedTableModel(this)) {
  setAccessibleDescription(
      tr("The Up and Down keys select a request. The Left and Right keys move in time. The Plus and Minus "
         "keys zoom. F shows everything."));
  setHorizontalHeader(new TimeAxis(this));
  setItemDelegateForColumn(Lane, new LaneDelegate(this));
  setModel(m_items);
  const auto middle = [this] { return scale().left + scale().width / 2; };
  addKeys(*this, tr("Show all times"), {Qt::Key_F, Qt::Key_Home}, [this] { fit(); });
  addKeys(*this, tr("Zoom in"), {Qt::Key_Plus, Qt::Key_Equal},
          [this, middle] { zoom(kWheelStep, middle()); });
  addKeys(*this, tr("Zoom out"), {Qt::Key_Minus}, [this, middle] { zoom(1 / kWheelStep, middle()); });
  addKeys(*this, tr("Move to earlier times"), {Qt::Key_Left}, [this] { move(-1.0 / 8); });
  addKeys(*this, tr("Move to later times"), {Qt::Key_Right}, [this] { move(1.0 / 8); });
}

void TimelineTable::setContent(const TimelineModel& model, const Theme& theme,
                               std::optional<RequestId> selected) {
  const bool otherRun = model.runs != m_model.runs;
  m_model = model;
  m_theme = theme;
  setTheme(theme);
  m_items->setTable(tableOf(model));
  if (otherRun) {
    fitColumns(Lane, kLeastLaneWidth);
    horizontalHeader()->setSectionResizeMode(Step, QHeaderView::Interactive);
    setColumnWidth(Step, stepWidth());
  }
  if (otherRun || m_fitted) fit();
  fitRows();
  updateGeometries();
  int row = static_cast<int>(m_model.rows.size()) - 1;
  while (row >= 0 && selected != m_model.rows[static_cast<std::size_t>(row)].request) --row;
  showRow(row);
  viewport()->update();
}

double TimelineTable::wholeLength() const {
  return std::max(kShortest, static_cast<double>(m_model.end - m_model.begin));
}

void TimelineTable::fit() {
  setRange(0, wholeLength());
}

void TimelineTable::setRange(double begin, double end) {
  const double most = wholeLength();
  const double length = std::clamp(end - begin, kShortest, most);
  m_begin = std::clamp(begin, 0.0, most - length);
  m_end = m_begin + length;
  m_fitted = length >= most;
  viewport()->update();
  horizontalHeader()->viewport()->update();
}

void TimelineTable::move(double share) {
  const double way = share * (m_end - m_begin);
  setRange(m_begin + way, m_end + way);
}

void TimelineTable::zoom(double factor, double x) {
  const Scale now = scale();
  const double share = std::clamp((x - now.left) / now.width, 0.0, 1.0);
  const double place = m_begin + share * (m_end - m_begin);
  const double length = std::clamp((m_end - m_begin) / factor, kShortest, wholeLength());
  setRange(place - share * length, place + (1 - share) * length);
}

TimelineTable::Scale TimelineTable::scale() const {
  return {.begin = m_begin,
          .end = m_end,
          .left = static_cast<double>(columnViewportPosition(Lane)),
          .width = std::max(1.0, static_cast<double>(columnWidth(Lane) - kRight))};
}

int TimelineTable::axisHeight() const {
  return m_model.starts.empty() ? kAxis : kAxis + kStarts;
}

int TimelineTable::stepWidth() const {
  QFont font = m_theme.interfaceFont();
  font.setBold(true);
  const QFontMetrics metrics(font);
  int widest = metrics.horizontalAdvance(tr("Step")) + 4 * kSpace;
  for (const std::vector<PaintedCell>& row : m_items->table().rows)
    widest = std::max(widest, metrics.horizontalAdvance(row[Step].text));
  return std::min(widest + 6 * kSpace, kMostStepWidth);
}

void TimelineTable::fitRows() {
  const int rows = std::max(1, static_cast<int>(m_model.rows.size()));
  setRowHeight(std::clamp(viewport()->height() / rows, kLeastLane, kMostLane));
}

QSize TimelineTable::contentSize() const {
  return {std::max(640, viewport()->width()),
          axisHeight() + kLeastLane * static_cast<int>(m_model.rows.size())};
}

void TimelineTable::paintAll(QPainter& painter, const QSize& size) const {
  const QSize natural = contentSize();
  const double factor = std::min(static_cast<double>(size.width()) / natural.width(),
                                 static_cast<double>(size.height()) / natural.height());
  const double width = size.width() / factor;
  const double left = stepWidth();
  const Scale whole{.begin = 0, .end = wholeLength(), .left = left, .width = width - left - kRight};
  painter.save();
  painter.scale(factor, factor);
  painter.setRenderHint(QPainter::Antialiasing);
  paintAxis(painter, QRectF(left, 0, width - left, axisHeight()), whole);
  QFont font = m_theme.interfaceFont();
  font.setBold(true);
  const int selected = selectedRow();
  for (int row = 0; row < m_items->rowCount(); ++row) {
    const QRectF area(0, axisHeight() + kLeastLane * row, width, kLeastLane);
    if (row == selected) painter.fillRect(area, m_theme.color(Role::AccentFill));
    const PaintedCell& step = m_items->table().rows[static_cast<std::size_t>(row)][Step];
    painter.setFont(font);
    painter.setPen(m_theme.color(step.ink));
    const QRectF place = area.adjusted(2 * kSpace, 0, left - width - 2 * kSpace, 0);
    painter.drawText(
        place, Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetrics(font).elidedText(step.text, Qt::ElideRight, static_cast<int>(place.width())));
    painter.setPen(QPen(m_theme.color(Role::Line), 1));
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    paintLane(painter, area.adjusted(left, 0, 0, 0), whole, row);
  }
  paintStartLines(painter, whole, axisHeight(), natural.height());
  painter.restore();
}

void TimelineTable::paintAxis(QPainter& painter, const QRectF& area, const Scale& scale) const {
  painter.save();
  painter.setClipRect(area, Qt::IntersectClip);
  painter.setFont(m_theme.monoFont());
  const QFontMetricsF metrics(m_theme.monoFont());
  const std::vector<double> ticks =
      axisTicks(scale.begin * 1e-6, scale.end * 1e-6, std::max(2, static_cast<int>(scale.width / 120)));
  const double step = ticks.size() < 2 ? (scale.end - scale.begin) * 1e-6 : ticks[1] - ticks[0];
  const double bottom = area.bottom();
  for (const double tick : ticks) {
    const double x = std::round(scale.x(tick * 1e6)) + 0.5;
    painter.setPen(QPen(m_theme.color(Role::Grid), 1));
    painter.drawLine(QPointF(x, bottom - 5), QPointF(x, bottom));
    const QString text = axisTickText(tick, step);
    const double wide = std::ceil(metrics.horizontalAdvance(text)) + 2;
    const double left = std::clamp(x - wide / 2, area.left(), std::max(area.left(), area.right() - wide));
    painter.setPen(m_theme.color(Role::TextSecond));
    painter.drawText(QRectF(left, bottom - 22, wide, 16), Qt::AlignHCenter | Qt::AlignBottom, text);
  }
  painter.setFont(m_theme.smallFont());
  const QFontMetrics small(m_theme.smallFont());
  paintStartLines(painter, scale, area.top() + kSpace, bottom);
  double used = -1;
  for (const TimelineStart& start : m_model.starts) {
    const double x = std::round(scale.x(static_cast<double>(start.time - m_model.begin))) + 0.5;
    if (x < scale.left || x > scale.right()) continue;
    const double width = small.horizontalAdvance(start.text) + 2 * kSpace;
    // The text is at the left if there is no room at the right.
    const double left = x + 6 + width > area.right() ? std::max(area.left(), x - 6 - width) : x + 6;
    if (left < used) continue;
    used = left + width;
    const QRectF place(left, area.top() + 2, width, 18);
    painter.fillRect(place, m_theme.color(Role::Surface));
    painter.setPen(m_theme.color(Role::Accent));
    painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, start.text);
  }
  painter.restore();
}

void TimelineTable::paintStartLines(QPainter& painter, const Scale& scale, double top, double bottom) const {
  painter.setPen(QPen(m_theme.color(Role::Accent), 1, Qt::DashLine));
  for (const TimelineStart& start : m_model.starts) {
    const double x = std::round(scale.x(static_cast<double>(start.time - m_model.begin))) + 0.5;
    if (x >= scale.left && x <= scale.right()) painter.drawLine(QPointF(x, top), QPointF(x, bottom));
  }
}

void TimelineTable::paintLane(QPainter& painter, const QRectF& area, const Scale& scale, int index) const {
  if (index < 0 || index >= static_cast<int>(m_model.rows.size())) return;
  const TimelineRow& row = m_model.rows[static_cast<std::size_t>(index)];
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setClipRect(area, Qt::IntersectClip);
  painter.setPen(QPen(m_theme.color(Role::Grid), 1));
  for (const double tick :
       axisTicks(scale.begin * 1e-6, scale.end * 1e-6, std::max(2, static_cast<int>(scale.width / 120)))) {
    const double x = std::round(scale.x(tick * 1e6)) + 0.5;
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
  }
  painter.setFont(m_theme.smallFont());
  const double y = area.top() + kBarSpace / 2.0;
  const double height = area.height() - kBarSpace;
  for (const TimelineBar& bar : row.bars) {
    const double left = scale.x(static_cast<double>(bar.begin - m_model.begin));
    const double right = scale.x(static_cast<double>(bar.end - m_model.begin));
    if (right < area.left() || left > area.right()) continue;
    paintBar(painter, {left, y, std::max(1.0, right - left), height}, area, bar);
  }
  if (row.admittedAt >= 0 && row.prompt.relocated > 0) {
    // Reading from the cache takes no time of its own in the trace, so it is a mark of fixed size at
    // admission.
    const QRectF mark(scale.x(static_cast<double>(row.admittedAt - m_model.begin)) - 4, y - 3, 8, height + 6);
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

void TimelineTable::paintBar(QPainter& painter, const QRectF& area, const QRectF& lane,
                             const TimelineBar& bar) const {
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
  const QFontMetrics metrics(m_theme.smallFont());
  const QRectF shown = area.intersected(lane);
  if (shown.width() < kShortestText) return;
  // The last forward pass over the prompt gives the first token of an answer. Decoding adds the other tokens.
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

QRectF TimelineTable::barRect(std::size_t row, const TimelineBar& bar) const {
  const Scale now = scale();
  const double left = now.x(static_cast<double>(bar.begin - m_model.begin));
  const double right = now.x(static_cast<double>(bar.end - m_model.begin));
  const QRect lane = visualRect(shownIndex(static_cast<int>(row)));
  return {left, lane.top() + kBarSpace / 2.0, std::max(1.0, right - left),
          static_cast<double>(lane.height() - kBarSpace)};
}

QString TimelineTable::factsAt(const QPoint& place) const {
  const int row = rowOf(indexAt(place));
  if (row < 0) return {};
  const TimelineRow& shown = m_model.rows[static_cast<std::size_t>(row)];
  for (const TimelineBar& bar : shown.bars) {
    if (barRect(static_cast<std::size_t>(row), bar).adjusted(-1, -4, 1, 4).contains(place))
      return timelineFacts(m_model, shown, bar);
  }
  return timelineFacts(m_model, shown);
}

void TimelineTable::paintEvent(QPaintEvent* event) {
  TableView::paintEvent(event);
  QPainter painter(viewport());
  const int rows = rowViewportPosition(model()->rowCount() - 1) + verticalHeader()->defaultSectionSize();
  paintStartLines(painter, scale(), 0, rows);
}

void TimelineTable::resizeEvent(QResizeEvent* event) {
  TableView::resizeEvent(event);
  fitRows();
}

void TimelineTable::mousePressEvent(QMouseEvent* event) {
  const bool isPlain = event->button() == Qt::LeftButton && event->modifiers() == Qt::NoModifier;
  if (!isPlain || columnAt(static_cast<int>(event->position().x())) != Lane)
    return TableView::mousePressEvent(event);
  m_pressed = event->position().x();
  m_dragged = false;
  m_beginAtPress = m_begin;
}

void TimelineTable::mouseMoveEvent(QMouseEvent* event) {
  if (!m_pressed) return TableView::mouseMoveEvent(event);
  const double way = event->position().x() - *m_pressed;
  if (!m_dragged && std::abs(way) < QApplication::startDragDistance()) return;
  m_dragged = true;
  const double begin = m_beginAtPress - way * (m_end - m_begin) / scale().width;
  setRange(begin, begin + (m_end - m_begin));
}

void TimelineTable::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !m_pressed) return TableView::mouseReleaseEvent(event);
  m_pressed.reset();
  if (!m_dragged) setCurrentIndex(indexAt(event->position().toPoint()));
}

void TimelineTable::wheelEvent(QWheelEvent* event) {
  const bool isOnLane = columnAt(static_cast<int>(event->position().x())) == Lane;
  if (!isOnLane || event->modifiers().testFlag(Qt::ShiftModifier)) return TableView::wheelEvent(event);
  zoom(std::pow(kWheelStep, event->angleDelta().y() / 120.0), event->position().x());
  event->accept();
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

TimelineView::TimelineView(QWidget* parent) : RunView(parent), m_table(new TimelineTable(this)) {
  setAccessibleName(tr("Timeline"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);

  QHBoxLayout* row = titleRow();
  const auto meaning = [](BlockRole role, const QString& name, const QString& brief, const QString& help) {
    return BlockLegend::Meaning{.look = {.role = role}, .name = name, .help = help, .brief = brief};
  };
  m_legend = new BlockLegend(
      {meaning(BlockRole::Free, tr("loading"), tr("load"),
               tr("Blocks are read from host memory or the disk")),
       meaning(BlockRole::Computed, tr("computing"), tr("compute"),
               tr("The model computes tokens of the prompt")),
       meaning(BlockRole::Relocated, tr("reading relocated"), tr("relocated"),
               tr("The step read relocated blocks from the cache. The mark has no length in time")),
       meaning(BlockRole::Hit, tr("decoding"), tr("decode"), tr("The model generates the answer"))},
      row->parentWidget());
  m_scope = new QComboBox(row->parentWidget());
  m_scope->setAccessibleName(tr("Runs"));
  m_scope->setToolTip(tr("Choose the runs to show"));
  m_scope->addItem(tr("one run"));
  m_scope->addItem(tr("all runs"));
  row->addWidget(m_legend);
  row->addWidget(m_scope);
  connect(m_scope, &QComboBox::currentIndexChanged, this, [this](int index) { setAllRuns(index == 1); });
  connect(m_table, &TableView::rowSelected, this, &TimelineView::select);
}

void TimelineView::setAllRuns(bool all) {
  if (all == m_allRuns) return;
  m_allRuns = all;
  if (m_scope) m_scope->setCurrentIndex(all ? 1 : 0);
  if (input() != nullptr) refresh();
}

QString TimelineView::emptyText() const {
  if (!m_model.rows.empty()) return {};
  return tr("Run a query to see when each step waited, loaded blocks, computed its prompt and decoded.");
}

void TimelineView::refresh() {
  m_model = timelineModel(*input(), m_allRuns);
  m_table->setVisible(!m_model.rows.empty());
  m_table->setContent(m_model, input()->theme, input()->selection.request);
  if (m_legend) m_legend->setTheme(input()->theme);
  QString summary = m_model.runs.size() == 1 ? tr("run %1").arg(m_model.runs.front())
                    : m_model.runs.empty()   ? QString()
                                             : tr("%1 runs").arg(m_model.runs.size());
  // If the document has not run, the shown run belongs to another document.
  if (m_model.runs.size() == 1 && !input()->paths.contains(m_model.runs.front()))
    summary += tr(" · of another query");
  Q_EMIT summaryChanged(summary);
  update();
}

void TimelineView::select(int row) {
  const TimelineRow& shown = m_model.rows[static_cast<std::size_t>(row)];
  Q_EMIT selectionWanted(selectionOf(shown.run, shown.request, shown.node));
}

QString TimelineView::csv() const {
  if (input() == nullptr) return {};
  const TimelineModel model = timelineModel(*input(), m_allRuns);
  return model.rows.empty() ? QString() : timelineCsv(model);
}

void TimelineView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  if (paintIfEmpty(painter, size)) return;
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  m_table->paintAll(painter, size);
}

ViewInfo timelineRow() {
  return {.id = QStringLiteral("timeline"),
          .title = tr("Timeline"),
          .help = tr("When each step waited, loaded blocks, computed its prompt and decoded"),
          .make = makeViewOf<TimelineView>,
          .needs = {Fact::StepTimes, Fact::TokenTimes, Fact::Passes},
          .places = {{LayoutId::Measure, Room::Low, Room::Low, 0, 0, 4, 0},
                     {LayoutId::Measure, Room::Middle, Room::Large, 0, 1, 0, 38}}};
}

}  // namespace spanscope::ui
