// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/head_grid.h"

#include "ui/session/answer_shares.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <QImage>
#include <QKeyEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

namespace spanscope::ui {

namespace {

using trace::PartAttention;

/// The rows from which the tokens of the answer were sampled, by token.
std::map<std::int32_t, PartAttention> answerRows(const ViewInput& input, const AnswerShares& shares) {
  const RequestEvents* events = input.trace->request(shares.request);
  if (events == nullptr || shares.tokens.empty()) return {};
  std::map<std::int32_t, PartAttention> rows = partRows(input, *events, shares.parts);
  rows.erase(rows.upper_bound(shares.tokens.back().index), rows.end());
  return rows;
}

/// Adds one row of a layer and head to the map, without first tokens.
void addRow(HeadMap& map, std::size_t token, const PartAttention& row, std::size_t layer,
            const std::vector<std::size_t>& placeOf, std::size_t sources) {
  const std::size_t width = row.keyParts.size();
  const std::size_t from =
      (layer * static_cast<std::size_t>(row.heads) + static_cast<std::size_t>(map.head)) * width;
  for (std::size_t key = 0; key < width; ++key) {
    const std::uint32_t part = row.keyParts[key];
    if (part >= placeOf.size() || placeOf[part] >= sources) continue;
    map.mass[token * sources + placeOf[part]] = std::max(0.0F, row.mass[from + key] - row.first[from + key]);
  }
}

void finish(HeadMap& map, std::size_t sources, std::optional<std::size_t> selected) {
  std::vector<double> sums(sources, 0.0);
  float most = 0;
  for (std::size_t i = 0; i < map.mass.size(); ++i) {
    sums[i % sources] += static_cast<double>(map.mass[i]);
    most = std::max(most, map.mass[i]);
  }
  double whole = 0;
  for (const double sum : sums) whole += sum;
  map.most = static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  map.share = whole > 0 ? sums[selected.value_or(map.most)] / whole : 0;
  if (most <= 0) return;
  for (float& mass : map.mass) mass /= most;
}

}  // namespace

HeadGrid headGrid(const ViewInput& input) {
  HeadGrid grid;
  const std::shared_ptr<const AnswerShares> shares = answerShares(input, input.shownRequest());
  const auto rows = answerRows(input, *shares);
  if (rows.empty()) return grid;
  const std::vector<PartName> names = requestParts(input, shares->request).names;
  const std::optional<std::uint32_t> selected = selectedSource(input, *shares);
  std::vector<std::size_t> placeOf(shares->parts.size(), shares->parts.size());
  for (std::uint32_t part = 0; part < shares->parts.size(); ++part) {
    if (!shares->isSource(part)) continue;
    placeOf[part] = grid.sources.size();
    if (selected == part) grid.selected = grid.sources.size();
    grid.sources.push_back(part);
    grid.names.push_back(names[part].name);
  }
  if (grid.sources.empty()) return {};
  grid.request = shares->request;
  grid.tokens = rows.size();

  std::map<std::pair<std::int32_t, std::int32_t>, HeadMap> maps;
  std::size_t token = 0;
  for (const auto& [index, row] : rows) {
    for (std::size_t layer = 0; layer < row.layers.size(); ++layer) {
      for (std::int32_t head = 0; head < row.heads; ++head) {
        HeadMap& map = maps[{row.layers[layer], head}];
        map.layer = row.layers[layer];
        map.head = head;
        map.mass.resize(grid.tokens * grid.sources.size(), 0.0F);
        addRow(map, token, row, layer, placeOf, grid.sources.size());
      }
    }
    ++token;
  }
  for (auto& [place, map] : maps) {
    finish(map, grid.sources.size(), grid.selected);
    grid.maps.push_back(std::move(map));
  }
  if (grid.selected) {
    std::stable_sort(grid.maps.begin(), grid.maps.end(),
                     [](const HeadMap& a, const HeadMap& b) { return a.share > b.share; });
  }
  return grid;
}

QString headText(const HeadGrid& grid, std::size_t map) {
  if (map >= grid.maps.size()) return {};
  const HeadMap& own = grid.maps[map];
  return tr("layer %1, head %2: %4 gets %3 of the attention that the head gives to documents")
      .arg(own.layer)
      .arg(own.head)
      .arg(partText(own.share), grid.names[grid.selected.value_or(own.most)]);
}

QString headGridTitle(const HeadGrid& grid) {
  if (grid.isEmpty()) return tr("The attention of single heads was not recorded.");
  return grid.selected ? tr("Heads that attend to %1, strongest first").arg(grid.names[*grid.selected])
                       : tr("Heads by layer. Select a document to see which heads attend to this document.");
}

namespace {

constexpr int kTitle = 20;      ///< height of the title of the whole grid
constexpr int kMapWidth = 104;  ///< least width of a map
constexpr int kMapHeight = 44;
constexpr int kCaption = 16;
constexpr int kGap = 2 * kSpace;

QImage imageOf(const HeadGrid& grid, const HeadMap& map) {
  const auto width = static_cast<int>(grid.sources.size());
  QImage image(width, std::max(1, static_cast<int>(grid.tokens)), QImage::Format_RGB32);
  for (int row = 0; row < image.height(); ++row) {
    for (int column = 0; column < width; ++column) {
      const auto at = static_cast<std::size_t>(row) * grid.sources.size() + static_cast<std::size_t>(column);
      image.setPixelColor(column, row, Theme::heat(static_cast<double>(map.mass[at])));
    }
  }
  return image;
}

}  // namespace

HeadGridArea::HeadGridArea(QWidget* parent) : PaintedScroll(parent) {
  setAccessibleName(tr("Attention of each head"));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

void HeadGridArea::showGrid(const HeadGrid& grid, std::optional<std::pair<std::int32_t, std::int32_t>> chosen,
                            const Theme& newTheme) {
  if (grid == m_grid && chosen == m_chosen && newTheme == theme()) return;
  m_grid = grid;
  m_chosen = chosen;
  m_current = std::min(m_current, m_grid.maps.empty() ? 0 : m_grid.maps.size() - 1);
  setTheme(newTheme);
  setAccessibleDescription(headGridTitle(m_grid));
  contentChanged();
}

int HeadGridArea::columns() const {
  return std::max(1, (viewport()->width() - kGap) / (kMapWidth + kGap));
}

QRect HeadGridArea::mapRect(std::size_t map) const {
  const auto count = static_cast<std::size_t>(columns());
  const int width = (viewport()->width() - kGap) / columns() - kGap;
  const auto row = static_cast<int>(map / count);
  const auto column = static_cast<int>(map % count);
  return {kGap + column * (width + kGap), kTitle + row * (kMapHeight + kCaption + kGap), width,
          kMapHeight + kCaption};
}

QSize HeadGridArea::contentSize() const {
  const int bottom = m_grid.isEmpty() ? kTitle : mapRect(m_grid.maps.size() - 1).bottom() + kGap;
  return {viewport()->width(), bottom};
}

void HeadGridArea::paintContent(QPainter& painter, const QRect& visible) {
  const QRect title(kGap, 0, viewport()->width() - 2 * kGap, kTitle);
  painter.setFont(theme().titleFont());
  painter.setPen(theme().color(Role::Text));
  painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(headGridTitle(m_grid), Qt::ElideRight, title.width()));
  for (std::size_t map = 0; map < m_grid.maps.size(); ++map) {
    if (mapRect(map).intersects(visible)) paintMap(painter, map);
  }
}

void HeadGridArea::paintMap(QPainter& painter, std::size_t index) const {
  const HeadMap& map = m_grid.maps[index];
  const QRect whole = mapRect(index);
  const QRect picture(whole.left(), whole.top() + kCaption, whole.width(), kMapHeight);
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  painter.drawImage(picture, imageOf(m_grid, map));
  painter.setFont(theme().smallFont());
  const QRect caption(whole.left(), whole.top(), whole.width(), kCaption);
  painter.setPen(theme().color(Role::Text));
  painter.drawText(caption, Qt::AlignLeft | Qt::AlignVCenter, tr("L%1 H%2").arg(map.layer).arg(map.head));
  painter.setPen(theme().color(Role::TextSecond));
  painter.drawText(caption, Qt::AlignRight | Qt::AlignVCenter, partText(map.share));
  const double cell = static_cast<double>(picture.width()) / static_cast<double>(m_grid.sources.size());
  if (m_grid.selected) {
    const int left =
        picture.left() + static_cast<int>(std::lround(cell * static_cast<double>(*m_grid.selected)));
    painter.fillRect(QRect(left, picture.bottom() + 1, std::max(2, static_cast<int>(cell)), 3),
                     theme().color(Role::Accent));
  }
  painter.setBrush(Qt::NoBrush);
  if (m_chosen == std::pair(map.layer, map.head)) {
    painter.setPen(QPen(theme().color(Role::Accent), 2));
    painter.drawRect(picture.adjusted(-1, -1, 0, 0));
  } else if (hasFocus() && index == m_current) {
    painter.setPen(QPen(theme().color(Role::Accent), 1, Qt::DotLine));
    painter.drawRect(picture.adjusted(-1, -1, 0, 0));
  }
}

std::optional<std::size_t> HeadGridArea::mapAt(const QPoint& place) const {
  for (std::size_t map = 0; map < m_grid.maps.size(); ++map) {
    if (mapRect(map).contains(place)) return map;
  }
  return std::nullopt;
}

void HeadGridArea::pressed(const QPoint& place) {
  const std::optional<std::size_t> map = mapAt(place);
  if (!map) return;
  m_current = *map;
  Q_EMIT chosen(m_grid.maps[*map].layer, m_grid.maps[*map].head);
}

QString HeadGridArea::tipAt(const QPoint& place) const {
  const std::optional<std::size_t> map = mapAt(place);
  return map ? headText(m_grid, *map) : QString();
}

void HeadGridArea::keyPressEvent(QKeyEvent* event) {
  const auto count = static_cast<std::size_t>(columns());
  std::size_t next = m_current;
  switch (event->key()) {
    case Qt::Key_Left:
      next -= next > 0 ? 1 : 0;
      break;
    case Qt::Key_Right:
      ++next;
      break;
    case Qt::Key_Up:
      next -= next >= count ? count : 0;
      break;
    case Qt::Key_Down:
      next += count;
      break;
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_current < m_grid.maps.size())
        Q_EMIT chosen(m_grid.maps[m_current].layer, m_grid.maps[m_current].head);
      return;
    case Qt::Key_Escape:
      Q_EMIT closed();
      return;
    default:
      PaintedScroll::keyPressEvent(event);
      return;
  }
  if (next >= m_grid.maps.size()) return;
  m_current = next;
  setAccessibleDescription(headText(m_grid, next));
  makeVisible(mapRect(next));
  viewport()->update();
}

}  // namespace spanscope::ui
