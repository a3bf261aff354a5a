// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_legend.h"

#include "ui/views/attention/attention_layers.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>

namespace spanscope::ui {
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
    samples.push_back({Hatch::Forbidden, tr("masked: the tree separates these")});
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
    samples.push_back({Hatch::None, tr("rows of the prompt: recorded if Settings, Recording includes them")});
  }
  if (model.sinkColumn >= 0)
    samples.push_back(
        {Hatch::Sink, tr("has the first key, an attention sink: attended to if no other key matches")});
  if (model.withoutFirst) samples.push_back({Hatch::None, tr("without first tokens (attention sinks)")});
  if (scale == AttentionScale::ByRow)
    samples.push_back({Hatch::None, tr("scale: share of the max of its row, without question and answer")});
  if (scale == AttentionScale::Logarithmic) samples.push_back({Hatch::None, tr("logarithmic scale")});
  if (model.computedAgain)
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
  if (model.earlierHere) samples.push_back({Hatch::Pale, tr("pale: recorded for another step of this run")});
  // With such rows the scale ends below 1.
  if (model.singles && model.highest <= 0.8F)
    samples.push_back({Hatch::None, tr("1 if a row attends to one block only")});
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
