// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_layers.h"

#include "ui/theme/pattern_painting.h"
#include "ui/views/attention/attention_plot.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/common/text_painting.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace spanscope::ui {

namespace {

/// Cells smaller than this, in pixels, are drawn as one picture without gaps.
constexpr double kSmallCell = 6;
constexpr double kBracketWidth = 2;
constexpr double kNameHeight = 14;
constexpr double kNameStep = 10;  ///< min pixels between the middles of two names

/// The area with its edges rounded to pixels. Adjacent areas cover each pixel once.
QRect pixelsOf(const QRectF& area) {
  const auto left = static_cast<int>(std::lround(area.left()));
  const auto top = static_cast<int>(std::lround(area.top()));
  return {left, top, static_cast<int>(std::lround(area.right())) - left,
          static_cast<int>(std::lround(area.bottom())) - top};
}

bool isMarked(const AttentionPlot& plot, const AttentionPart& part) {
  const std::vector<std::size_t>& marked = plot.marks().parts;
  const auto index = static_cast<std::size_t>(&part - plot.model().parts.data());
  return std::find(marked.begin(), marked.end(), index) != marked.end();
}

}  // namespace

QBrush forbiddenBrush(const Theme& theme) {
  return QBrush(theme.color(Role::Outline), Qt::BDiagPattern);
}

QBrush outsideBrush(const Theme& theme) {
  return QBrush(theme.color(Role::Outline), Qt::HorPattern);
}

QBrush missingBrush(const Theme& theme) {
  return QBrush(theme.color(Role::Outline), Qt::Dense7Pattern);
}

AttentionCells::AttentionCells(AttentionPlot& plot, QCPAxis* columns, QCPAxis* rows)
    : QCPAbstractPlottable(columns, rows), m_plot(plot) {
  setSelectable(QCP::stNone);
}

double AttentionCells::selectTest(const QPointF& /*place*/, bool /*onlySelectable*/,
                                  QVariant* /*details*/) const {
  return -1;
}

QCPRange AttentionCells::getKeyRange(bool& found, QCP::SignDomain /*domain*/) const {
  found = m_plot.model().columns > 0;
  return {0.0, static_cast<double>(std::max(1, m_plot.model().columns))};
}

QCPRange AttentionCells::getValueRange(bool& found, QCP::SignDomain /*domain*/,
                                       const QCPRange& /*keys*/) const {
  found = !m_plot.model().rows.empty();
  return {0.0, std::max(1.0, static_cast<double>(m_plot.model().rows.size()))};
}

void AttentionCells::draw(QCPPainter* painter) {
  if (m_plot.model().rows.empty() || m_plot.model().columns == 0) return;
  painter->setRenderHint(QPainter::Antialiasing, false);
  drawCells(painter);
  drawMask(painter);
  if (const QRectF ungrown = m_plot.ungrown(); !ungrown.isNull())
    painter->fillRect(ungrown, m_plot.theme().color(Role::Surface));
  drawRules(painter);
  drawMarks(painter);
}

void AttentionCells::drawCells(QCPPainter* painter) const {
  const AttentionModel& model = m_plot.model();
  const QRectF whole = m_plot.cellRect({.firstRow = 0,
                                        .rows = static_cast<std::int32_t>(model.rows.size()),
                                        .firstColumn = 0,
                                        .columns = model.columns});
  const double width = whole.width() / model.columns;
  const double height = whole.height() / static_cast<double>(model.rows.size());
  if (width < kSmallCell || height < kSmallCell) {
    painter->setRenderHint(QPainter::SmoothPixmapTransform, width < 1 || height < 1);
    painter->drawImage(whole, m_plot.image());
    return;
  }
  const QRectF seen = clipRect();
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(model.rows.size()); ++row) {
    for (std::int32_t column = 0; column < model.columns; ++column) {
      if (model.states[model.at(row, column)] != CellState::Measured) continue;
      const QRect cell = pixelsOf(m_plot.cellRect({row, 1, column, 1}));
      if (!seen.intersects(cell)) continue;
      painter->fillRect(cell.adjusted(0, 0, width > 12 ? -1 : 0, height > 12 ? -1 : 0),
                        m_plot.image().pixelColor(column, row));
    }
  }
}

void AttentionCells::drawMask(QCPPainter* painter) const {
  for (const AttentionRegion& region : m_plot.forbidden()) {
    fillPattern(*painter, pixelsOf(m_plot.cellRect(region)), forbiddenBrush(m_plot.theme()));
  }
  for (const AttentionRegion& region : m_plot.outside()) {
    fillPattern(*painter, pixelsOf(m_plot.cellRect(region)), outsideBrush(m_plot.theme()));
  }
  for (const AttentionRegion& region : m_plot.missing()) {
    fillPattern(*painter, pixelsOf(m_plot.cellRect(region)), missingBrush(m_plot.theme()));
  }
}

void AttentionCells::drawRules(QCPPainter* painter) const {
  const AttentionModel& model = m_plot.model();
  const auto rows = static_cast<std::int32_t>(model.rows.size());
  // Among hundreds of segments, each has a pixel or two, and their rules would cover all cells.
  const auto rule = [&](const QLineF& line, double room, double widest) {
    const double width = std::min(widest, std::floor(room / 3));
    if (width < 1) return;
    painter->setPen(QPen(m_plot.theme().color(Role::Surface), width));
    painter->drawLine(line);
  };
  for (const AttentionSegment& segment : model.segments) {
    if (segment.columns > 0 && segment.firstColumn > 0) {
      const QRectF column = m_plot.cellRect({0, rows, segment.firstColumn, segment.columns});
      rule({column.topLeft(), column.bottomLeft()}, column.width(), 3);
    }
    if (segment.rows > 0 && segment.firstRow > 0) {
      const QRectF row = m_plot.cellRect({segment.firstRow, segment.rows, 0, model.columns});
      rule({row.topLeft(), row.topRight()}, row.height(), 3);
    }
  }
  // Thinner lines separate sections of one segment.
  for (const AttentionPart& part : model.parts) {
    const QRectF area = m_plot.stretchRect(part.firstRow, part.rows, part.firstColumn, part.columns);
    const QRectF whole = m_plot.stretchRect(0, rows, 0, model.columns);
    if (part.columns > 0 && part.firstColumn > 0)
      rule({area.left(), whole.top(), area.left(), whole.bottom()}, area.width(), 2);
    if (part.rows > 0 && part.firstRow > 0)
      rule({whole.left(), area.top(), whole.right(), area.top()}, area.height(), 2);
  }
}

void AttentionCells::drawMarks(QCPPainter* painter) const {
  const AttentionModel& model = m_plot.model();
  const AttentionMarks& marks = m_plot.marks();
  painter->setBrush(Qt::NoBrush);
  painter->setPen(QPen(m_plot.theme().color(Role::Accent), 2));
  if (marks.row) painter->drawRect(m_plot.cellRect({*marks.row, 1, 0, model.columns}));
  if (marks.column) {
    painter->drawRect(m_plot.cellRect({0, static_cast<std::int32_t>(model.rows.size()), *marks.column, 1}));
  }
  if (m_plot.cursor() && m_plot.hasFocus()) {
    const QRectF cell = m_plot.cellRect({m_plot.cursor()->row, 1, m_plot.cursor()->column, 1});
    painter->setPen(QPen(m_plot.theme().color(Role::Surface), 4));
    painter->drawRect(cell);
    painter->setPen(QPen(m_plot.theme().color(Role::Accent), 2));
    painter->drawRect(cell);
  }
}

void AttentionCells::drawLegendIcon(QCPPainter* /*painter*/, const QRectF& /*rect*/) const {}

AttentionBrackets::AttentionBrackets(AttentionPlot& plot)
    : QCPLayerable(&plot, QStringLiteral("axes")), m_plot(plot) {}

void AttentionBrackets::applyDefaultAntialiasingHint(QCPPainter* painter) const {
  painter->setAntialiasing(false);
}

QColor AttentionBrackets::answerInk() const {
  return m_plot.theme().color(Role::TextSecond);
}

void AttentionBrackets::draw(QCPPainter* painter) {
  const QRectF inner = m_plot.axisRect()->rect();
  QFont plain = m_plot.theme().smallFont();
  plain.setWeight(QFont::DemiBold);
  drawColumnNames(painter, inner, plain);
  drawRowNames(painter, inner, plain);
  drawTokenNames(painter, inner);
  drawSink(painter, inner);
}

void AttentionBrackets::drawColumnNames(QCPPainter* painter, const QRectF& inner, const QFont& plain) const {
  painter->save();
  const QRectF all = m_plot.viewport();
  painter->setClipRect(QRectF(all.left(), 0, all.width(), inner.top()));
  for (const ColumnName& name : m_plot.columnNames()) {
    const AttentionPart& part = m_plot.model().parts[name.part];
    const QRectF& area = name.columns;
    const QColor ink = name.isAnswer ? answerInk() : m_plot.theme().segmentInk(part.hue);
    QFont font = plain;
    font.setUnderline(!name.isAnswer && isMarked(m_plot, part));
    painter->setFont(font);
    painter->setPen(ink);
    const QRectF bracket(area.left() + 1, inner.top() - 6, area.width() - 3, kBracketWidth);
    if (name.isAnswer)
      painter->fillRect(bracket, ink);
    else
      fillWithHue(*painter, bracket, m_plot.theme(), ink, part.hue);
    if (m_plot.hasUprightNames()) {
      painter->save();
      painter->translate(area.center().x(), inner.top() - 10);
      painter->rotate(-90);
      painter->drawText(QRectF(0, -8, inner.top(), 16), Qt::AlignLeft | Qt::AlignVCenter, name.text);
      painter->restore();
    } else {
      painter->drawText(name.place, Qt::AlignCenter, name.text);
    }
  }
  painter->restore();
}

void AttentionBrackets::drawRowNames(QCPPainter* painter, const QRectF& inner, const QFont& plain) const {
  const AttentionModel& model = m_plot.model();
  const bool tokens = !model.rows.empty() && model.rows.front().token >= 0;
  const bool answers = !model.rows.empty() && model.rows.front().answer >= 0;
  std::vector<std::pair<const AttentionPart*, QRectF>> shown;
  for (const AttentionPart& part : model.parts) {
    if (part.rows <= 0) continue;
    QRectF area = m_plot.stretchRect(part.firstRow, part.rows, 0, 1);
    area.setTop(std::max(area.top(), inner.top()));
    area.setBottom(std::min(area.bottom(), inner.bottom()));
    if (area.height() > 2) shown.emplace_back(&part, area);
  }
  QFont font = plain;
  std::vector<NameRoom> names;
  for (const auto& [part, area] : shown) names.push_back({part->name, inner.left() - 12});
  const std::vector<QString> texts = shortNames(names, QFontMetrics(font));
  double last = -kNameStep;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto& [part, area] = shown[i];
    const QColor ink = m_plot.theme().segmentInk(part->hue);
    const QRectF bracket(inner.left() - 6, area.top() + 1, kBracketWidth, area.height() - 3);
    if (answers)
      painter->fillRect(bracket, answerInk());
    else
      fillWithHue(*painter, bracket, m_plot.theme(), ink, part->hue);
    // A name that cannot be read is left out.
    if (tokens || area.center().y() - last < kNameStep) continue;
    last = area.center().y();
    font.setUnderline(isMarked(m_plot, *part));
    painter->setFont(font);
    painter->setPen(ink);
    const QRectF line(0, area.center().y() - kNameHeight / 2, inner.left() - 10, kNameHeight);
    painter->drawText(line, Qt::AlignRight | Qt::AlignVCenter, texts[i]);
  }
}

void AttentionBrackets::drawTokenNames(QCPPainter* painter, const QRectF& inner) const {
  const AttentionModel& model = m_plot.model();
  if (model.rows.empty() || model.rows.front().token < 0) return;
  const QFont font = m_plot.theme().monoFont();
  painter->setFont(font);
  const QFontMetrics metrics(font);
  double last = inner.top() - metrics.height();
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(model.rows.size()); ++row) {
    const double middle = m_plot.cellRect({row, 1, 0, 1}).center().y();
    if (middle < inner.top() || middle > inner.bottom() || middle - last < kNameStep) continue;
    last = middle;
    const AttentionRow& shown = model.rows[static_cast<std::size_t>(row)];
    painter->setPen(m_plot.theme().color(shown.source == RowSource::None ? Role::TextThird : Role::Text));
    painter->drawText(
        QRectF(0, middle - 8, inner.left() - 10, 16), Qt::AlignRight | Qt::AlignVCenter,
        metrics.elidedText(shown.text.simplified(), Qt::ElideMiddle, static_cast<int>(inner.left() - 12)));
  }
}

void AttentionBrackets::drawSink(QCPPainter* painter, const QRectF& inner) const {
  const std::int32_t column = m_plot.model().sinkColumn;
  if (column < 0 || column >= m_plot.model().columns) return;
  const QRectF area = m_plot.cellRect({0, 1, column, 1});
  if (area.center().x() < inner.left() || area.center().x() > inner.right()) return;
  const QColor ink = m_plot.theme().color(Role::Text);
  painter->setPen(QPen(ink, 1, Qt::DashLine));
  const QRectF whole(area.left(), inner.top(), area.width() - 1, inner.height() - 1);
  painter->setBrush(Qt::NoBrush);
  painter->drawRect(whole);
  paintSinkMark(*painter, QRectF(area.center().x() - 4, inner.top() - 5, 8, 5), ink);
}

void paintSinkMark(QPainter& painter, const QRectF& area, const QColor& ink) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ink);
  painter.drawPolygon(
      QPolygonF({area.topLeft(), area.topRight(), QPointF(area.center().x(), area.bottom())}));
  painter.restore();
}

namespace {

constexpr int kLine = 20;
constexpr int kSwatch = 10;
constexpr int kGap = 4 * kSpace;

}  // namespace

void AttentionLegend::setContent(const AttentionModel& model, const Theme& theme, AttentionScale scale) {
  std::vector<Sample> samples;
  const auto has = [&model](CellState state) {
    return std::find(model.states.begin(), model.states.end(), state) != model.states.end();
  };
  if (has(CellState::Forbidden)) {
    samples.push_back({Hatch::Forbidden, tr("masked: the tree separates row and key")});
  }
  if (has(CellState::Outside)) {
    samples.push_back(
        {Hatch::Outside, tr("outside the window: a token attends to %1 positions").arg(model.window.tokens)});
  } else if (model.window.tokens == 0 && model.window.windowed > 0) {
    samples.push_back({Hatch::None, tr("%1 of %2 layers attend only to the last %3 positions")
                                        .arg(model.window.windowed)
                                        .arg(model.window.layers)
                                        .arg(model.window.widest)});
  }
  if (has(CellState::Missing)) samples.push_back({Hatch::Missing, tr("attended to, but not recorded")});
  if (model.rowSet == AttentionRowSet::All && !model.promptRows) {
    samples.push_back({Hatch::None, tr("prompt rows: recorded only if chosen in Settings, Recording")});
  }
  if (model.sinkColumn >= 0)
    samples.push_back({Hatch::Sink, tr("first key, an attention sink: attended to if no other key matches")});
  if (model.withoutFirst) samples.push_back({Hatch::None, tr("without first tokens (attention sinks)")});
  if (scale == AttentionScale::ByRow)
    samples.push_back({Hatch::None, tr("scale: share of the row's max, without question and answer")});
  if (scale == AttentionScale::Logarithmic) samples.push_back({Hatch::None, tr("logarithmic scale")});
  if (model.recomputed)
    samples.push_back({Hatch::None, tr("recomputed after the run, by replaying the answer")});
  if (model.leftOut) samples.push_back({Hatch::None, leftOutText(*model.leftOut)});
  if (!model.earlierRuns.empty()) {
    QStringList runs;
    for (const RunId run : model.earlierRuns) runs.push_back(QString::number(run));
    samples.push_back(
        {Hatch::Pale, runs.size() == 1
                          ? tr("pale: recorded in run %1, reused here").arg(runs.front())
                          : tr("pale: recorded in runs %1, reused here").arg(runs.join(tr(", ")))});
  }
  const auto isMargin = [](const AttentionSegment& segment) {
    return segment.columns > 0 && !segment.isSource;
  };
  if (model.rowSet == AttentionRowSet::Answer &&
      std::any_of(model.segments.begin(), model.segments.end(), isMargin))
    samples.push_back({Hatch::Pale, tr("pale column: question or other text")});
  if (model.earlierHere) samples.push_back({Hatch::Pale, tr("pale: recorded for another step of this run")});
  // With such rows, the scale ends below 1.
  if (model.singles && model.highest <= 0.8F)
    samples.push_back({Hatch::None, tr("value 1: the row attends to only one block")});
  if (model.blocksPerCell > 1 && !model.tokenColumns)
    samples.push_back({Hatch::None, tr("%1 blocks per cell").arg(model.blocksPerCell)});
  if (samples == m_samples && theme == m_theme) return;
  m_samples = std::move(samples);
  m_theme = theme;
  updateGeometry();
  update();
}

int AttentionLegend::flow(QPainter* painter, const QRect& area) const {
  const QFontMetrics metrics(m_theme.smallFont());
  int x = area.left();
  int y = area.top();
  for (const Sample& sample : m_samples) {
    const int swatch = sample.hatch == Hatch::None ? 0 : kSwatch + 6;
    const int width = swatch + metrics.horizontalAdvance(sample.text);
    if (x > area.left() && x + width > area.right()) {
      x = area.left();
      y += kLine;
    }
    if (painter != nullptr) {
      const QRect box(x, y + (kLine - kSwatch) / 2, kSwatch, kSwatch);
      painter->setPen(QPen(m_theme.color(Role::Outline), 1));
      if (sample.hatch == Hatch::Forbidden || sample.hatch == Hatch::Missing ||
          sample.hatch == Hatch::Outside) {
        painter->setBrush(sample.hatch == Hatch::Forbidden ? forbiddenBrush(m_theme)
                          : sample.hatch == Hatch::Outside ? outsideBrush(m_theme)
                                                           : missingBrush(m_theme));
        painter->drawRect(box);
      } else if (sample.hatch == Hatch::Sink) {
        paintSinkMark(*painter, QRectF(box.left() + 1, box.top() + 3, 8, 5), m_theme.color(Role::Text));
      } else if (sample.hatch == Hatch::Pale) {
        QColor pale = Theme::heat(0.35);
        pale.setAlphaF(0.45F);
        painter->fillRect(box, pale);
      }
      painter->setPen(m_theme.color(Role::TextSecond));
      painter->drawText(QRect(x + swatch, y, std::min(width, area.right() - x) + 1, kLine),
                        Qt::AlignLeft | Qt::AlignVCenter,
                        metrics.elidedText(sample.text, Qt::ElideRight, area.right() - x - swatch));
    }
    x += width + kGap;
  }
  return m_samples.empty() ? 0 : y + kLine - area.top();
}

QSize AttentionLegend::sizeHint() const {
  return {200, heightForWidth(std::max(width(), 200))};
}

QSize AttentionLegend::minimumSizeHint() const {
  return {0, 0};
}

int AttentionLegend::heightForWidth(int width) const {
  return flow(nullptr, QRect(0, 0, width, 1));
}

void AttentionLegend::paint(QPainter& painter, const QRect& area) const {
  painter.save();
  painter.setFont(m_theme.smallFont());
  flow(&painter, area);
  painter.restore();
}

void AttentionLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  paint(painter, rect());
}

}  // namespace spanscope::ui
