// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diagnosis/log_bars.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

// In pixels.
constexpr int kBarSide = 2 * kSpace;
constexpr int kGroupTitle = 22;
constexpr int kBarText = 18;
constexpr int kBarHeight = 12;
constexpr int kBarGap = 8;
constexpr int kBarGroupGap = 14;

}  // namespace

LogBars::LogBars(QWidget* parent) : ScrolledItems(parent) {
  setAccessibleName(tr("Cost of causes, cost of each way to send the log, and requests since the last use"));
}

void LogBars::show(std::vector<LogBarGroup> groups, const Theme& theme) {
  m_groups = std::move(groups);
  m_blocks.setTheme(theme);
  QStringList texts;
  for (const LogBarGroup& group : m_groups)
    for (const LogBar& bar : group.bars)
      texts << tr("%1 · %2: %3").arg(group.title, bar.name, bar.value) +
                   (bar.help.isEmpty() ? QString() : QLatin1Char('\n') + bar.help);
  showItems(texts, theme);
}

const LogBar* LogBars::barAt(int item) const {
  for (const LogBarGroup& group : m_groups) {
    if (item < static_cast<int>(group.bars.size()))
      return item < 0 ? nullptr : &group.bars[static_cast<std::size_t>(item)];
    item -= static_cast<int>(group.bars.size());
  }
  return nullptr;
}

int LogBars::helpHeight(const QString& help, int width) const {
  if (help.isEmpty()) return 0;
  return QFontMetrics(theme().smallFont())
             .boundingRect(QRect(0, 0, std::max(1, width - 2 * kBarSide), 1000), Qt::TextWordWrap, help)
             .height() +
         kSpace;
}

std::vector<QRect> LogBars::layOut(int width) const {
  std::vector<QRect> places;
  int y = kSpace;
  for (const LogBarGroup& group : m_groups) {
    y += kGroupTitle + helpHeight(group.help, width);
    for (const LogBar& bar : group.bars) {
      const int height = kBarText + kBarHeight + helpHeight(bar.help, width) + kBarGap;
      places.emplace_back(0, y, width, height);
      y += height;
    }
    y += kBarGroupGap;
  }
  return places;
}

void LogBars::paintItems(QPainter& painter, const std::vector<QRect>& places, const QRect& visible) const {
  const QFont small = theme().smallFont();
  const QFontMetrics metrics(small);
  std::size_t item = 0;
  for (const LogBarGroup& group : m_groups) {
    if (item >= places.size()) break;
    const int width = places[item].width();
    const int helpHeight = this->helpHeight(group.help, width);
    const int top = places[item].top() - helpHeight - kGroupTitle;
    painter.setFont(theme().titleFont());
    painter.setPen(theme().color(Role::Text));
    painter.drawText(QRect(kBarSide, top, width - 2 * kBarSide, kGroupTitle),
                     Qt::AlignLeft | Qt::AlignVCenter, group.title);
    painter.setFont(small);
    painter.setPen(theme().color(Role::TextSecond));
    painter.drawText(QRect(kBarSide, top + kGroupTitle, width - 2 * kBarSide, helpHeight),
                     Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, group.help);
    for (const LogBar& bar : group.bars) {
      const QRect place = places[item];
      const auto index = static_cast<int>(item++);
      if (!place.intersects(visible)) continue;
      const QRect text(kBarSide, place.top(), width - 2 * kBarSide, kBarText);
      painter.setFont(small);
      painter.setPen(theme().color(Role::Text));
      const int valueWidth = metrics.horizontalAdvance(bar.value);
      painter.drawText(text, Qt::AlignRight | Qt::AlignVCenter, bar.value);
      painter.drawText(
          text, Qt::AlignLeft | Qt::AlignVCenter,
          metrics.elidedText(bar.name, Qt::ElideRight, std::max(0, text.width() - valueWidth - 2 * kSpace)));
      const QRect whole(kBarSide, text.bottom() + 1, width - 2 * kBarSide, kBarHeight);
      painter.fillRect(whole, theme().color(Role::Canvas));
      const auto pixels = [&](double share) {
        return share > 0 ? std::max(1, static_cast<int>(std::lround(share * whole.width()))) : 0;
      };
      const int first = std::min(whole.width(), pixels(bar.length));
      const int second = std::min(whole.width() - first, pixels(bar.rest));
      const auto part = [&](int x, int length, BlockRole role) {
        if (length <= 0) return;
        const QRect area(whole.left() + x, whole.top(), length, kBarHeight);
        m_blocks.fill(painter, area, role, QPointF(whole.topLeft()));
        painter.setPen(theme().ink(role));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(area.adjusted(0, 0, -1, -1));
      };
      part(0, first, bar.role);
      part(first, second, bar.restRole);
      if (!bar.help.isEmpty()) {
        painter.setPen(theme().color(Role::TextSecond));
        painter.drawText(
            QRect(kBarSide, whole.bottom() + 1, whole.width(), this->helpHeight(bar.help, width)),
            Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, bar.help);
      }
      if (!hasFocus() || currentItem() != index) continue;
      painter.setPen(QPen(theme().color(Role::Accent), 1, Qt::DotLine));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(place.adjusted(2, 0, -3, -kBarGap / 2));
    }
  }
}

}  // namespace spanscope::ui
