// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/next_token/facing_bars.h"

#include "ui/theme/pattern_painting.h"
#include "ui/views/common/request_blocks.h"
#include "ui/words/part_text.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace spanscope::ui {
namespace {

// In pixels.
constexpr int kRow = 22;
constexpr int kBar = 14;
constexpr int kLeastName = 40;

}  // namespace

FacingBars::FacingBars(QWidget* parent) : ScrolledItems(parent) {
  setAccessibleName(tr("Alternatives of the next token"));
}

void FacingBars::setContent(const NextTokenModel& model, const Theme& theme) {
  m_model = model;
  QStringList texts;
  if (m_model.isComputed()) {
    for (const jobs::Alternative& each : m_model.shown().alternatives) texts << alternativeText(model, each);
  }
  setAccessibleDescription(texts.join(QLatin1Char('\n')));
  showItems(texts, theme);
}

std::vector<QRect> FacingBars::layOut(int width) const {
  if (!m_model.isComputed()) return {};
  std::vector<QRect> places;
  // The first line has the names of the sides.
  for (int y = kRow; places.size() < m_model.shown().alternatives.size(); y += kRow)
    places.emplace_back(0, y, width, kRow);
  return places;
}

void FacingBars::paintItems(QPainter& painter, const std::vector<QRect>& places, const QRect& visible) const {
  const jobs::NextToken& token = m_model.shown();
  const QFontMetrics mono(theme().monoFont());
  const QFont plain = theme().smallFont();
  QFont bold = plain;
  bold.setWeight(QFont::DemiBold);
  const int numbers = QFontMetrics(bold).horizontalAdvance(partText(0.0001)) + 2 * kSpace;
  const int width = places.front().width();
  int names = kLeastName;
  for (const jobs::Alternative& each : token.alternatives)
    names = std::max(names, mono.horizontalAdvance(shownToken(each.text)) + 7 * kSpace);
  names = std::min(names, width / 3);
  const int side = std::max(0, (width - names) / 2 - numbers);
  const int left = numbers + side;  // the left bars begin here
  const int right = left + names;
  const auto write = [&](const QRect& area, Qt::Alignment alignment, const QString& text, const QFont& font,
                         Role ink) {
    painter.setFont(font);
    painter.setPen(theme().color(ink));
    painter.drawText(area, alignment | Qt::AlignVCenter,
                     QFontMetrics(font).elidedText(text, Qt::ElideRight, area.width()));
  };
  write({0, 0, left, kRow}, Qt::AlignRight, m_model.ownName, plain, Role::TextSecond);
  write({right, 0, width - right, kRow}, Qt::AlignLeft, m_model.otherName, plain, Role::TextSecond);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const QRect& place = places[i];
    if (!place.intersects(visible)) continue;
    const jobs::Alternative& each = token.alternatives[i];
    const QString name = (each.token == token.drawn ? tr("● ") : QString()) + shownToken(each.text);
    write(QRect(left, place.top(), names, kRow).adjusted(kSpace, 0, -kSpace, 0), Qt::AlignHCenter, name,
          theme().monoFont(), Role::Text);
    const int top = place.top() + (kRow - kBar) / 2;
    const auto lengthOf = [side](double share) {
      return share > 0 ? std::max(1, static_cast<int>(std::lround(share * side))) : 0;
    };
    for (const int x : {numbers, right})
      painter.fillRect(QRect(x, top, side, kBar), theme().color(Role::Canvas));
    const int own = lengthOf(each.own);
    painter.fillRect(QRect(left - own, top, own, kBar), theme().color(Role::TextSecond));
    const QRect other(right, top, lengthOf(each.other), kBar);
    fillPattern(painter, other, QBrush(theme().color(Role::TextSecond), Qt::BDiagPattern));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(theme().color(Role::TextSecond));
    if (!other.isEmpty()) painter.drawRect(other.adjusted(0, 0, -1, -1));
    const auto number = [&](int x, double share, bool isBest) {
      write({x, place.top(), numbers - kSpace, kRow}, Qt::AlignRight, partText(share), isBest ? bold : plain,
            isBest ? Role::Text : Role::TextSecond);
    };
    number(0, each.own, each.token == token.ownBest);
    number(right + side, each.other, each.token == token.otherBest);
    if (!hasFocus() || currentItem() != static_cast<int>(i)) continue;
    painter.setPen(QPen(theme().color(Role::Accent), 1, Qt::DotLine));
    painter.drawRect(place.adjusted(1, 0, -2, -1));
  }
}

}  // namespace spanscope::ui
