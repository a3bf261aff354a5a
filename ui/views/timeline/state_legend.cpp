// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/state_legend.h"

#include <QFontMetrics>
#include <QPainter>
#include <QStringList>

namespace spanscope::ui {
namespace {

constexpr int kSwatch = 12;
constexpr int kGap = 3 * kSpace;
constexpr int kBriefGap = 2 * kSpace;
constexpr int kTextGap = 6;
constexpr int kHeight = 20;

}  // namespace

StateLegend::StateLegend(std::vector<Swatch> entries, QWidget* parent)
    : QWidget(parent), m_entries(std::move(entries)) {
  QStringList words;
  for (const Swatch& entry : m_entries) words.push_back(entry.text);
  setAccessibleName(tr("Legend: %1").arg(words.join(tr(", "))));
}

void StateLegend::setTheme(const Theme& theme) {
  if (theme == m_theme) return;
  m_theme = theme;
  updateGeometry();
  update();
}

QSize StateLegend::sizeWith(bool isBrief) const {
  const QFontMetrics metrics(m_theme.smallFont());
  int width = 0;
  for (const Swatch& entry : m_entries) {
    if (width > 0) width += isBrief ? kBriefGap : kGap;
    width += kSwatch + kTextGap + metrics.horizontalAdvance(isBrief ? entry.brief : entry.text);
  }
  return {width + 1, kHeight};
}

QSize StateLegend::sizeHint() const {
  return sizeWith(false);
}

QSize StateLegend::minimumSizeHint() const {
  return sizeWith(true);
}

void StateLegend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(m_theme.smallFont());
  const QFontMetrics metrics(m_theme.smallFont());
  const int top = (height() - kSwatch) / 2;
  const bool isBrief = width() < sizeWith(false).width();
  int x = 0;
  for (const Swatch& entry : m_entries) {
    const QString& text = isBrief ? entry.brief : entry.text;
    const QRectF box(x + 0.5, top + 0.5, kSwatch - 1, kSwatch - 1);
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_theme.fill(entry.role));
    painter.drawRoundedRect(box, 2, 2);
    painter.setBrush(m_theme.pattern(entry.role));
    painter.setPen(QPen(m_theme.ink(entry.role), 1));
    painter.drawRoundedRect(box, 2, 2);
    x += kSwatch + kTextGap;
    const int width = metrics.horizontalAdvance(text);
    painter.setPen(m_theme.color(Role::TextSecond));
    painter.drawText(QRect(x, 0, width + 1, height()), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += width + (isBrief ? kBriefGap : kGap);
  }
}

}  // namespace spanscope::ui
