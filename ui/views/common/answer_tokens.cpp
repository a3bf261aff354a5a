// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/answer_tokens.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPolygonF>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

// In pixels.
constexpr int kMark = 8;   ///< height of the mark above a token
constexpr int kTile = 18;  ///< height of a token
constexpr int kBar = 26;   ///< height of a whole bar
constexpr int kLine = kMark + kTile + 2 + kBar + 10;
constexpr int kLeastTile = 12;
constexpr int kGap = 3;
constexpr int kMarkWidth = 4;  ///< half of the width

}  // namespace

AnswerTokens::AnswerTokens(QWidget* parent) : ScrolledItems(parent) {
  setAccessibleName(tr("Tokens of the answer"));
  const auto choose = [this](const QModelIndex& index) {
    Q_EMIT tokenChosen(static_cast<std::size_t>(index.row()));
  };
  // The current token may not be selected yet.
  connect(this, &QAbstractItemView::clicked, this, choose);
  connect(this, &QAbstractItemView::activated, this, choose);
}

void AnswerTokens::setContent(const AnswerTiles& content, const Theme& newTheme) {
  if (content == m_content && newTheme == theme()) return;
  m_content = content;
  QStringList texts;
  for (const AnswerTile& tile : m_content.tiles) texts << tile.description;
  const int current = m_content.chosen ? static_cast<int>(*m_content.chosen) : -1;
  setAccessibleDescription(current < 0 ? QString() : texts.value(current));
  showItems(texts, newTheme, current);
}

int AnswerTokens::fittingHeight(int width, int room) const {
  return std::min(heightFor(width), std::max(1, room / kLine) * kLine);
}

int AnswerTokens::scaleWidth() const {
  const QFontMetrics metrics(theme().smallFont());
  return std::max(metrics.horizontalAdvance(m_content.top), metrics.horizontalAdvance(m_content.bottom)) +
         2 * kSpace;
}

std::vector<QRect> AnswerTokens::layOut(int width) const {
  const QFontMetrics metrics(theme().monoFont());
  const int left = scaleWidth();
  const int most = std::max(kLeastTile, width - left - 2);
  std::vector<QRect> places;
  int x = left;
  int y = 0;
  for (const AnswerTile& tile : m_content.tiles) {
    const int own = std::clamp(metrics.horizontalAdvance(tile.text) + 2 * kSpace, kLeastTile, most);
    if (x > left && x + own > width - 2) {
      x = left;
      y += kLine;
    }
    places.emplace_back(x, y, own, kLine);
    x += own + kGap;
  }
  return places;
}

void AnswerTokens::paintItems(QPainter& painter, const std::vector<QRect>& places,
                              const QRect& visible) const {
  const QFontMetrics mono(theme().monoFont());
  const int left = scaleWidth();
  int line = -1;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const QRect& place = places[i];
    if (!place.intersects(visible)) continue;
    const AnswerTile& own = m_content.tiles[i];
    const QRect tile(place.left(), place.top() + kMark, place.width(), kTile);
    const QRect bar(place.left(), tile.bottom() + 3, place.width(), kBar);
    if (place.top() != line && !m_content.top.isEmpty()) {
      line = place.top();
      painter.setFont(theme().smallFont());
      painter.setPen(theme().color(Role::TextThird));
      const QRect scale(0, bar.top() - 5, left - kSpace, kBar + 12);
      painter.drawText(scale, Qt::AlignRight | Qt::AlignTop, m_content.top);
      painter.drawText(scale, Qt::AlignRight | Qt::AlignBottom, m_content.bottom);
      const int right = visible.right() - 2;
      painter.fillRect(QRect(left, bar.top(), right - left, 1), theme().color(Role::Grid));
      painter.fillRect(QRect(left, bar.center().y() + 1, right - left, 1), theme().color(Role::Grid));
      painter.fillRect(QRect(left, bar.bottom() + 1, right - left, 1), theme().color(Role::Outline));
    }
    painter.fillRect(tile, theme().color(Role::Canvas));
    painter.setFont(theme().monoFont());
    painter.setPen(theme().color(own.isQuiet ? Role::TextSecond : Role::Text));
    painter.drawText(tile.adjusted(1, 0, -1, 0), Qt::AlignCenter,
                     mono.elidedText(own.text, Qt::ElideRight, tile.width() - kSpace));
    // A value that is not zero must be visible.
    const int height =
        own.value > 0 ? std::max(1, static_cast<int>(std::lround(kBar * std::min(1.0, own.value)))) : 0;
    painter.fillRect(QRect(bar.left() + 1, bar.bottom() + 1 - height, bar.width() - 2, height),
                     theme().color(own.isMarked ? Role::Text : Role::TextThird));
    if (own.isMarked) {
      const double middle = tile.center().x() + 0.5;
      painter.save();
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme().color(Role::Text));
      painter.drawPolygon(QPolygonF({{middle - kMarkWidth, place.top() + 1.0},
                                     {middle + kMarkWidth, place.top() + 1.0},
                                     {middle, place.top() + kMark - 1.0}}));
      painter.restore();
    }
    const bool isChosen = m_content.chosen == i;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().color(isChosen ? Role::Accent : Role::Outline), isChosen ? 2 : 1));
    painter.drawRect(tile.adjusted(0, 0, -1, -1));
  }
}

QModelIndex AnswerTokens::moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) {
  const int current = currentItem();
  if (action == MoveEnd) return model()->index(count() - 1, 0);
  const bool isPage = action == MovePageUp || action == MovePageDown;
  if (!isPage && action != MoveLeft && action != MoveRight)
    return ScrolledItems::moveCursor(action, modifiers);
  const int step = action == MovePageDown || action == MoveRight ? 1 : -1;
  for (int item = current + step; item >= 0 && item < count(); item += step) {
    if (!isPage || m_content.tiles[static_cast<std::size_t>(item)].isMarked) return model()->index(item, 0);
  }
  return currentIndex();
}

void AnswerTokens::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
  ScrolledItems::currentChanged(current, previous);
  if (!isFilling() && current.isValid()) Q_EMIT tokenChosen(static_cast<std::size_t>(current.row()));
}

}  // namespace spanscope::ui
