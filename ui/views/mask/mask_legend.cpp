// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/mask/mask_legend.h"

#include "ui/theme/pattern_painting.h"
#include "ui/views/mask/mask_area.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kLineHeight = 20;
constexpr int kBox = 12;
constexpr int kBetween = 4 * kSpace;

}  // namespace

MaskLegend::MaskLegend(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Legend of the mask"));
}

void MaskLegend::setContent(const MaskModel& model, MaskShown shown, const Theme& theme, bool isBrief) {
  std::vector<Sample> samples;
  const bool isFull = shown == MaskShown::FullPrefill;
  samples.push_back({Sign::Seen, tr("sees"), {}});
  if (!isFull && model.reused > 0)
    samples.push_back(
        {Sign::Reused,
         isBrief ? tr("sees, row reused") : tr("sees, but the row was not computed in this run"),
         {}});
  if (model.seen < model.full)
    samples.push_back(
        isFull
            ? Sample{Sign::OnlyFull, tr("only in a full prefill"), {}}
            : Sample{Sign::Unseen, isBrief ? tr("masked") : tr("does not see, though it comes before"), {}});
  const auto has = [&model](BlockRole state) {
    return std::any_of(model.bands.begin(), model.bands.end(),
                       [state](const MaskBand& band) { return band.state == state; });
  };
  for (const BlockRole state : {BlockRole::Hit, BlockRole::Relocated, BlockRole::Computed}) {
    if (!isFull && has(state)) samples.push_back({Sign::State, tr("row: %1").arg(Theme::name(state)), state});
  }
  for (const QString& note : model.notes) samples.push_back({Sign::None, note, {}});
  const std::size_t hue =
      model.parts.empty() ? 0 : model.parts[std::min<std::size_t>(1, model.parts.size() - 1)].hue;
  if (samples == m_samples && theme == m_painter.theme() && hue == m_hue) return;
  m_samples = std::move(samples);
  m_hue = hue;
  m_painter.setTheme(theme);
  QStringList texts;
  for (const Sample& sample : m_samples) texts << sample.text;
  setAccessibleDescription(texts.join(QStringLiteral("; ")));
  updateGeometry();
  update();
}

void MaskLegend::paintSign(QPainter& painter, const QRect& box, const Sample& sample) const {
  const Theme& theme = m_painter.theme();
  switch (sample.sign) {
    case Sign::Seen:
    case Sign::Reused:
      painter.fillRect(box, theme.segmentTint(m_hue));
      if (sample.sign == Sign::Reused) fillPattern(painter, box, reusedBrush(theme));
      break;
    case Sign::Unseen:
      fillPattern(painter, box, unseenBrush(theme));
      break;
    case Sign::OnlyFull:
      m_painter.fill(painter, box, BlockRole::Computed, QPointF(0, 0));
      break;
    case Sign::State:
      m_painter.fill(painter, box, sample.state, QPointF(0, 0));
      break;
    case Sign::None:
      return;
  }
  painter.setPen(QPen(theme.color(Role::Outline), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box.adjusted(0, 0, -1, -1));
}

int MaskLegend::flow(QPainter* painter, const QRect& area) const {
  const Theme& theme = m_painter.theme();
  const QFontMetrics metrics(theme.smallFont());
  int x = area.left();
  int y = area.top();
  for (const Sample& sample : m_samples) {
    const int sign = sample.sign == Sign::None ? 0 : kBox + 6;
    const int width = sign + metrics.horizontalAdvance(sample.text);
    if (x > area.left() && x + width > area.right()) {
      x = area.left();
      y += kLineHeight;
    }
    if (painter != nullptr) {
      paintSign(*painter, QRect(x, y + (kLineHeight - kBox) / 2, kBox, kBox), sample);
      painter->setPen(theme.color(Role::TextSecond));
      painter->drawText(QRect(x + sign, y, std::min(width, area.right() - x) + 1, kLineHeight),
                        Qt::AlignLeft | Qt::AlignVCenter,
                        metrics.elidedText(sample.text, Qt::ElideRight, area.right() - x - sign));
    }
    x += width + kBetween;
  }
  return m_samples.empty() ? 0 : y + kLineHeight - area.top();
}

int MaskLegend::heightForWidth(int width) const {
  return flow(nullptr, QRect(0, 0, width, 1));
}

void MaskLegend::paint(QPainter& painter, const QRect& area) const {
  painter.save();
  painter.setFont(m_painter.theme().smallFont());
  flow(&painter, area);
  painter.restore();
}

void MaskLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  paint(painter, rect());
}

}  // namespace spanscope::ui
