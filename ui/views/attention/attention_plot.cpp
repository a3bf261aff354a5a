// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_plot.h"

#include "ui/views/attention/attention_layers.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/part_text.h"

#include <QApplication>
#include <QFontMetrics>
#include <QKeyEvent>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr double kWheelStep = 1.2;
constexpr double kFewestCells = 2;
/// Share of the background colour in rows that another request recorded.
constexpr double kPale = 0.55;
constexpr int kWidestNames = 120;
constexpr int kNamesHeight = 28;   ///< names above the columns, brackets included
constexpr int kUprightNames = 72;  ///< greatest height of upright names
constexpr int kBelow = 4;
constexpr double kNameGap = 0.5;
constexpr double kCornerGap = 3;  ///< between a name that reaches into a corner and its neighbour
constexpr int kScaleRoom = 64;    ///< room for the scale at the right

QColor blend(const QColor& ink, const QColor& ground, double share) {
  const auto mix = [share](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
  return {mix(ink.red(), ground.red()), mix(ink.green(), ground.green()), mix(ink.blue(), ground.blue())};
}

QFont nameFont(const Theme& theme) {
  QFont font = theme.smallFont();
  font.setWeight(QFont::DemiBold);
  return font;
}

QCPRange within(QCPRange range, double most) {
  const double size = std::clamp(range.size(), std::min(kFewestCells, most), most);
  const double middle = std::clamp(range.center(), size / 2, most - size / 2);
  return {middle - size / 2, middle + size / 2};
}

}  // namespace

AttentionPlot::AttentionPlot(QWidget* parent) : QCustomPlot(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setNoAntialiasingOnDrag(false);
  setPlottingHints(QCP::phCacheLabels);
  for (QCPAxis* axis : {xAxis, yAxis, xAxis2, yAxis2}) {
    axis->setVisible(false);
    axis->grid()->setVisible(false);
  }
  yAxis->setRangeReversed(true);
  axisRect()->setAutoMargins(QCP::msNone);
  axisRect()->setupFullAxesBox(false);
  for (QCPAxis* axis : {xAxis, yAxis, xAxis2, yAxis2}) axis->setVisible(false);

  // The plot owns and deletes both objects.
  new AttentionCells(*this, xAxis, yAxis);
  new AttentionBrackets(*this);
  m_scale = new QCPColorScale(this);
  m_scale->setType(QCPAxis::atRight);
  m_scale->setBarWidth(10);
  m_scale->setRangeDrag(false);
  m_scale->setRangeZoom(false);
  plotLayout()->addElement(0, 1, m_scale);
  plotLayout()->setColumnSpacing(kSpace);
}

void AttentionPlot::setContent(const AttentionModel& model, const Theme& theme, const AttentionMarks& marks,
                               AttentionScale scale) {
  const bool newShape = model.request != m_model.request || model.columns != m_model.columns ||
                        model.rows.size() != m_model.rows.size();
  m_model = model;
  m_forbidden = model.regions(CellState::Forbidden);
  m_outside = model.regions(CellState::Outside);
  m_missing = model.regions(CellState::Missing);
  m_theme = theme;
  m_marks = marks;
  m_scaleKind = scale;
  m_shades = attentionShades(m_model, scale);
  if (m_cursor &&
      (static_cast<std::size_t>(m_cursor->row) >= model.rows.size() || m_cursor->column >= model.columns)) {
    m_cursor.reset();
  }
  buildImage();
  layOut(size());
  if (newShape) fit();
  replot(QCustomPlot::rpQueuedReplot);
}

void AttentionPlot::setGrowing(std::optional<int> firstRow, double done) {
  if (!firstRow && !m_growsFrom) return;
  m_growsFrom = firstRow;
  m_grown = done;
  replot(QCustomPlot::rpQueuedReplot);
}

QRectF AttentionPlot::ungrown() const {
  const auto rows = static_cast<int>(m_model.rows.size());
  if (!m_growsFrom || *m_growsFrom >= rows) return {};
  const double grown = m_grown * m_model.columns;
  return stretchRect(*m_growsFrom, rows - *m_growsFrom, grown, m_model.columns - grown);
}

void AttentionPlot::setCursorCell(std::optional<AttentionCell> cell) {
  if (m_cursor == cell) return;
  m_cursor = cell;
  replot(QCustomPlot::rpQueuedReplot);
}

void AttentionPlot::buildImage() {
  const auto rows = static_cast<int>(m_model.rows.size());
  m_image = QImage(std::max(1, m_model.columns), std::max(1, rows), QImage::Format_ARGB32_Premultiplied);
  m_image.fill(Qt::transparent);
  // Uses a table of colours, because calls of the theme for a million cells would take longer than drawing
  // the cells.
  constexpr int kShades = 256;
  std::vector<QRgb> full(kShades);
  std::vector<QRgb> pale(kShades);
  for (int i = 0; i < kShades; ++i) {
    const QColor color = Theme::heat(static_cast<double>(i) / (kShades - 1));
    full[static_cast<std::size_t>(i)] = color.rgb();
    pale[static_cast<std::size_t>(i)] = blend(color, m_theme.color(Role::Surface), kPale).rgb();
  }
  // Question and other text are a pale margin of the documents.
  std::vector<bool> isMargin(static_cast<std::size_t>(m_model.columns), false);
  for (const AttentionSegment& segment : m_model.segments) {
    if (m_model.rowSet == AttentionRowSet::Answer && !segment.isSource)
      std::fill_n(isMargin.begin() + segment.firstColumn, segment.columns, true);
  }
  for (int row = 0; row < rows; ++row) {
    const bool isEarlier = m_model.rows[static_cast<std::size_t>(row)].source == RowSource::Earlier;
    auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(row));
    for (int column = 0; column < m_model.columns; ++column) {
      const std::size_t cell = m_model.at(row, column);
      if (m_model.states[cell] != CellState::Measured) continue;
      const auto& shades = isEarlier || isMargin[static_cast<std::size_t>(column)] ? pale : full;
      line[column] = shades[static_cast<std::size_t>(std::lround(m_shades.shades[cell] * (kShades - 1)))];
    }
  }
}

int AttentionPlot::leftMargin(int width) const {
  const QFontMetrics metrics(nameFont(m_theme));
  int widest = 24;
  for (const AttentionPart& part : m_model.parts) {
    if (part.rows > 0) widest = std::max(widest, metrics.horizontalAdvance(part.name));
  }
  const QFontMetrics mono(m_theme.monoFont());
  for (const AttentionRow& row : m_model.rows) {
    if (row.token >= 0) widest = std::max(widest, mono.horizontalAdvance(row.text.simplified()));
  }
  return std::min({widest, kWidestNames, std::max(24, width / 4)}) + 16;
}

AttentionPlot::NamesAbove AttentionPlot::namesAbove(const QSize& size, int left) const {
  const QFontMetrics metrics(nameFont(m_theme));
  const double room = std::max(1, size.width() - left - kScaleRoom);
  std::vector<NameRoom> names;
  for (const AttentionPart& part : m_model.parts) {
    if (part.columns > 0)
      names.push_back({part.name, room * part.columns / std::max(1, m_model.columns) - kNameGap});
  }
  const auto fits = [](const std::vector<QString>& texts) {
    return std::none_of(texts.begin(), texts.end(), [](const QString& text) { return text.isEmpty(); });
  };
  // Names at the edges reach into the corners.
  if (!names.empty()) {
    names.front().room += left - kCornerGap;
    names.back().room += kScaleRoom - kCornerGap;
  }
  if (fits(shortNames(names, metrics))) return {.upright = false, .height = kNamesHeight};
  int widest = 0;
  for (NameRoom& name : names) name.room = std::min(kUprightNames, size.height() / 4);
  for (const QString& text : shortNames(names, metrics))
    widest = std::max(widest, metrics.horizontalAdvance(text));
  return {.upright = true, .height = widest + kNamesHeight - 16};
}

std::vector<ColumnName> AttentionPlot::columnNames() const {
  constexpr double kUprightLine = 12;  // pixels
  constexpr double kCrowded = 5;       // pixels of a column
  const QRectF inner = axisRect()->rect();
  std::vector<ColumnName> shown;
  std::vector<NameRoom> names;
  const auto add = [&](std::size_t part, double first, double columns, bool isAnswer) {
    if (columns <= 0) return;
    QRectF area = stretchRect(0, 1, first, columns);
    const double whole = area.width();
    area.setLeft(std::max(area.left(), inner.left()));
    area.setRight(std::min(area.right(), inner.right()));
    if (area.width() <= 2) return;
    const QString name = isAnswer ? tr("answer") : m_model.parts[part].name;
    names.push_back({name, m_upright ? inner.top() - 12 : whole - kNameGap});
    shown.push_back({.whole = name,
                     .text = {},
                     .part = part,
                     .isAnswer = isAnswer,
                     .columns = area,
                     .place = QRectF(area.left(), inner.top() - 24, area.width(), 16)});
  };
  for (std::size_t i = 0; i < m_model.parts.size(); ++i)
    add(i, m_model.parts[i].firstColumn, m_model.parts[i].columns, false);
  if (!m_model.parts.empty()) {
    const AttentionSegment& last = m_model.segments.back();
    add(m_model.parts.size() - 1, last.firstColumn + last.columns - last.answerColumns, last.answerColumns,
        true);
  }
  // Beside the first and the last name there is a free corner.
  const QRectF all = viewport();
  if (!m_upright && !names.empty()) {
    names.front().room = shown.front().columns.right() - all.left() - kCornerGap;
    names.back().room = all.right() - shown.back().columns.left() - kCornerGap;
  }
  const QFontMetrics metrics(nameFont(m_theme));
  const std::vector<QString> texts = shortNames(names, metrics);
  // An upright name needs about the height of a line. If columns are much narrower, only some have names.
  const bool isCrowded = m_upright && inner.width() < kCrowded * static_cast<double>(shown.size());
  double taken = -1e9;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (isCrowded && shown[i].columns.center().x() - taken < kUprightLine) continue;
    taken = shown[i].columns.center().x();
    shown[i].text = texts[i];
    const double beyond = metrics.horizontalAdvance(texts[i]) - shown[i].place.width();
    if (m_upright || beyond <= 0) continue;
    if (i == 0) {
      shown[i].place.adjust(-beyond - kCornerGap, 0, -kCornerGap, 0);
    } else if (i + 1 == shown.size()) {
      shown[i].place.adjust(kCornerGap, 0, beyond + kCornerGap, 0);
    }
  }
  return shown;
}

int AttentionPlot::rowsHeight(const QSize& size) const {
  return size.height() - namesAbove(size, leftMargin(size.width())).height - kBelow;
}

void AttentionPlot::layOut(const QSize& size) {
  setBackground(QBrush(m_theme.color(Role::Surface)));
  const int left = leftMargin(size.width());
  const NamesAbove above = namesAbove(size, left);
  m_upright = above.upright;
  const int top = above.height;
  axisRect()->setMargins(QMargins(left, top, 4, kBelow));
  // The automatic margins of a scale never shrink.
  m_scale->setAutoMargins(QCP::msNone);
  m_scale->setMargins(QMargins(0, top, 0, kBelow));
  layOutScale();
}

void AttentionPlot::layOutScale() {
  QCPColorGradient gradient;
  gradient.clearColorStops();
  constexpr int kStops = 16;
  for (int i = 0; i <= kStops; ++i) {
    gradient.setColorStopAt(static_cast<double>(i) / kStops, Theme::heat(static_cast<double>(i) / kStops));
  }
  m_scale->setGradient(gradient);
  const bool logarithmic = m_scaleKind == AttentionScale::Logarithmic;
  m_scale->setDataScaleType(logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  m_scale->setDataRange({m_shades.bottom, m_shades.top});
  QCPAxis* axis = m_scale->axis();
  for (QCPAxis* edge : axis->axisRect()->axes()) {
    edge->setBasePen(Qt::NoPen);
    edge->setTickPen(Qt::NoPen);
    edge->setSubTickPen(Qt::NoPen);
  }
  axis->setTickLabelFont(m_theme.monoFont());
  axis->setTickLabelColor(m_theme.color(Role::TextSecond));
  axis->setTickPen(QPen(m_theme.color(Role::Outline)));
  axis->setBasePen(Qt::NoPen);
  axis->setSubTicks(false);
  axis->setTickLengthIn(0);
  axis->setTickLengthOut(3);
  QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  if (m_scaleKind == AttentionScale::ByRow) {
    ticker->addTick(0, QStringLiteral("0"));
    ticker->addTick(1, tr("max"));
  } else if (logarithmic) {
    for (double value = m_shades.bottom; value <= m_shades.top * (1 + 1e-9); value *= 10)
      ticker->addTick(value, massText(value));
  } else {
    constexpr int kTicks = 4;
    for (int i = 0; i <= kTicks; ++i) {
      const double value = m_shades.top * i / kTicks;
      // Cells that do not count for the scale may be above its top.
      const bool open = i == kTicks && m_model.rowSet == AttentionRowSet::Answer && m_shades.top < 1;
      ticker->addTick(value, (open ? QStringLiteral("≥") : QString()) + massText(value));
    }
  }
  axis->setTicker(ticker);
}

void AttentionPlot::resizeEvent(QResizeEvent* event) {
  // The sizes of names depend on the available space.
  if (!m_model.segments.empty()) layOut(event->size());
  QCustomPlot::resizeEvent(event);
  Q_EMIT resized();
}

void AttentionPlot::setRanges(QCPRange columns, QCPRange rows) {
  xAxis->setRange(within(columns, std::max(1, m_model.columns)));
  yAxis->setRange(within(rows, std::max(1.0, static_cast<double>(m_model.rows.size()))));
  replot(QCustomPlot::rpQueuedReplot);
}

void AttentionPlot::fit() {
  setRanges({0, static_cast<double>(std::max(1, m_model.columns))},
            {0, std::max(1.0, static_cast<double>(m_model.rows.size()))});
}

void AttentionPlot::showSegment(std::uint32_t segment) {
  constexpr double kWidth = 7;  // width of a cell in pixels
  if (segment >= m_model.segments.size()) return;
  const AttentionSegment& shown = m_model.segments[segment];
  const double room = std::max(1, axisRect()->width());
  if (shown.columns == 0 || room / std::max(1, m_model.columns) >= kWidth) return;
  const double width = std::max<double>(shown.columns, room / kWidth);
  const double middle = shown.firstColumn + shown.columns / 2.0;
  setRanges({middle - width / 2, middle + width / 2}, yAxis->range());
}

void AttentionPlot::reveal(const QRectF& cells) {
  const auto moved = [](QCPRange range, double first, double last) {
    if (last > range.upper) range += last - range.upper;
    // If not everything fits, the beginning is visible.
    if (first < range.lower) range -= range.lower - first;
    return range;
  };
  setRanges(moved(xAxis->range(), cells.left(), cells.right()),
            moved(yAxis->range(), cells.top(), cells.bottom()));
}

void AttentionPlot::zoom(double factor, const QPointF& place) {
  QCPRange columns = xAxis->range();
  QCPRange rows = yAxis->range();
  const double x = xAxis->pixelToCoord(place.x());
  const double y = yAxis->pixelToCoord(place.y());
  columns = {x - (x - columns.lower) / factor, x + (columns.upper - x) / factor};
  rows = {y - (y - rows.lower) / factor, y + (rows.upper - y) / factor};
  setRanges(columns, rows);
}

std::optional<AttentionCell> AttentionPlot::cellAt(const QPointF& place) const {
  if (!axisRect()->rect().contains(place.toPoint())) return std::nullopt;
  const AttentionCell cell{.row = static_cast<std::int32_t>(std::floor(yAxis->pixelToCoord(place.y()))),
                           .column = static_cast<std::int32_t>(std::floor(xAxis->pixelToCoord(place.x())))};
  if (cell.row < 0 || static_cast<std::size_t>(cell.row) >= m_model.rows.size()) return std::nullopt;
  if (cell.column < 0 || cell.column >= m_model.columns) return std::nullopt;
  return cell;
}

std::optional<std::size_t> AttentionPlot::nameAt(const QPointF& place) const {
  const QRect inner = axisRect()->rect();
  for (const ColumnName& name : columnNames()) {
    if (!m_upright && name.place.contains(place)) return name.part;
  }
  const bool above = place.y() < inner.top() && place.x() >= inner.left() && place.x() <= inner.right();
  const bool beside = place.x() < inner.left() && place.y() >= inner.top() && place.y() <= inner.bottom();
  const double column = xAxis->pixelToCoord(place.x());
  const double row = yAxis->pixelToCoord(place.y());
  for (std::size_t i = 0; i < m_model.parts.size(); ++i) {
    const AttentionPart& part = m_model.parts[i];
    const bool named = above ? column >= part.firstColumn && column < part.firstColumn + part.columns
                             : beside && row >= part.firstRow && row < part.firstRow + part.rows;
    if (named) return i;
  }
  // The answer's columns continue the last section.
  if (!above || m_model.parts.empty() || m_model.segments.empty()) return std::nullopt;
  const AttentionSegment& last = m_model.segments.back();
  const bool isAnswer = last.answerColumns > 0 && column >= last.firstColumn;
  return isAnswer ? std::optional(m_model.parts.size() - 1) : std::nullopt;
}

QRectF AttentionPlot::cellRect(const AttentionRegion& region) const {
  return stretchRect(region.firstRow, region.rows, region.firstColumn, region.columns);
}

QRectF AttentionPlot::stretchRect(double firstRow, double rows, double firstColumn, double columns) const {
  const QPointF topLeft(xAxis->coordToPixel(firstColumn), yAxis->coordToPixel(firstRow));
  const QPointF bottomRight(xAxis->coordToPixel(firstColumn + columns), yAxis->coordToPixel(firstRow + rows));
  return {topLeft, bottomRight};
}

void AttentionPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  m_pressed = event->position();
  m_dragged = false;
  m_columnsAtPress = xAxis->range();
  m_rowsAtPress = yAxis->range();
}

void AttentionPlot::mouseMoveEvent(QMouseEvent* event) {
  if (m_pressed && (event->buttons() & Qt::LeftButton) != 0) {
    const QPointF way = event->position() - *m_pressed;
    if (!m_dragged && way.manhattanLength() < QApplication::startDragDistance()) return;
    m_dragged = true;
    const double columns = way.x() * m_columnsAtPress.size() / std::max(1, axisRect()->width());
    const double rows = way.y() * m_rowsAtPress.size() / std::max(1, axisRect()->height());
    setRanges(m_columnsAtPress - columns, m_rowsAtPress - rows);
    return;
  }
  const std::optional<std::size_t> part = nameAt(event->position());
  setToolTip(part ? m_model.parts[*part].name : QString());
  const std::optional<AttentionCell> cell = cellAt(event->position());
  Q_EMIT cellHovered(cell ? cell->row : -1, cell ? cell->column : -1);
}

void AttentionPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !m_pressed) return;
  m_pressed.reset();
  if (m_dragged) return;
  const std::optional<AttentionCell> cell = cellAt(event->position());
  if (!cell) {
    if (const std::optional<std::size_t> part = nameAt(event->position()))
      Q_EMIT partClicked(static_cast<int>(*part));
    return;
  }
  m_cursor = cell;
  Q_EMIT cellClicked(cell->row, cell->column);
}

void AttentionPlot::mouseDoubleClickEvent(QMouseEvent* event) {
  m_pressed.reset();
  if (const std::optional<AttentionCell> cell = cellAt(event->position()))
    Q_EMIT cellOpened(cell->row, cell->column);
}

void AttentionPlot::leaveEvent(QEvent* event) {
  QCustomPlot::leaveEvent(event);
  Q_EMIT cellHovered(-1, -1);
}

void AttentionPlot::wheelEvent(QWheelEvent* event) {
  const double steps = event->angleDelta().y() / 120.0;
  const std::optional<AttentionCell> cell = cellAt(event->position());
  if (steps > 0 && cell && xAxis->range().size() <= kFewestCells && yAxis->range().size() <= kFewestCells) {
    Q_EMIT cellOpened(cell->row, cell->column);
  } else {
    zoom(std::pow(kWheelStep, steps), event->position());
  }
  event->accept();
}

void AttentionPlot::keyPressEvent(QKeyEvent* event) {
  if (m_model.rows.empty() || m_model.columns == 0) {
    QCustomPlot::keyPressEvent(event);
    return;
  }
  AttentionCell cell =
      m_cursor.value_or(AttentionCell{static_cast<std::int32_t>(m_model.rows.size()) - 1, 0});
  const QPointF middle = axisRect()->rect().center();
  switch (event->key()) {
    case Qt::Key_Left:
      cell.column -= m_cursor ? 1 : 0;
      break;
    case Qt::Key_Right:
      cell.column += m_cursor ? 1 : 0;
      break;
    case Qt::Key_Up:
      cell.row -= m_cursor ? 1 : 0;
      break;
    case Qt::Key_Down:
      cell.row += m_cursor ? 1 : 0;
      break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      zoom(kWheelStep, middle);
      return;
    case Qt::Key_Minus:
      zoom(1 / kWheelStep, middle);
      return;
    case Qt::Key_F:
    case Qt::Key_Home:
      fit();
      return;
    case Qt::Key_Space:
      if (m_cursor) Q_EMIT cellClicked(m_cursor->row, m_cursor->column);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_cursor) Q_EMIT cellOpened(m_cursor->row, m_cursor->column);
      return;
    case Qt::Key_Escape:
      Q_EMIT closed();
      return;
    default:
      QCustomPlot::keyPressEvent(event);
      return;
  }
  cell.row = std::clamp(cell.row, 0, static_cast<std::int32_t>(m_model.rows.size()) - 1);
  cell.column = std::clamp(cell.column, 0, m_model.columns - 1);
  setCursorCell(cell);
  Q_EMIT cellHovered(cell.row, cell.column);
}

void AttentionPlot::focusInEvent(QFocusEvent* event) {
  QCustomPlot::focusInEvent(event);
  replot(QCustomPlot::rpQueuedReplot);
}

void AttentionPlot::focusOutEvent(QFocusEvent* event) {
  QCustomPlot::focusOutEvent(event);
  replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace spanscope::ui
