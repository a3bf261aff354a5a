// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/pool_area.h"

#include "ui/views/common/moving_view.h"

#include <QKeyEvent>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <variant>

namespace spanscope::ui {

namespace {

constexpr int kMargin = 3 * kSpace;
constexpr std::array<int, 3> kPitches{44, 20, 12};

}  // namespace

BlockLook poolLook(const PoolBlock& block) {
  BlockLook look;
  look.shared = block.references >= 2;
  if (block.shown != BlockRole::Free) {
    look.role = block.shown;
    look.loaded = block.loaded;
    return look;
  }
  if (block.isOthers) {
    look.core = BlockCore::Frame;
    return look;
  }
  switch (block.state) {
    case PoolBlockState::Null:
      look.core = BlockCore::Cross;
      break;
    case PoolBlockState::Free:
      break;
    case PoolBlockState::Cached:
      look.core = BlockCore::Light;
      break;
    case PoolBlockState::Held:
      look.core = BlockCore::Dark;
      break;
    case PoolBlockState::Computing:
      look.role = BlockRole::Computed;
      break;
  }
  return look;
}

PoolArea::PoolArea(QWidget* parent) : ZoomedScroll(parent) {
  setAccessibleName(tr("Blocks of the pool"));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

void PoolArea::showPool(const PoolTable* table, PoolShade shade, BlockId current, const Theme& theme) {
  m_table = table;
  m_shade = shade;
  m_current = current;
  setTheme(theme);
  m_painter.setTheme(theme);
  if (m_laidOut != table->blocks.size() || m_pitch == 0) layOut();
  viewport()->update();
}

void PoolArea::showMotion(const PoolMotion* motion, double done) {
  if (motion == nullptr && m_motion == nullptr) return;
  m_motion = motion;
  m_done = done;
  viewport()->update();
}

int PoolArea::count() const {
  return m_table == nullptr ? 0 : static_cast<int>(m_table->blocks.size());
}

void PoolArea::layOut() {
  const int width = std::max(kPitches.back(), viewport()->width() - 2 * kMargin);
  const auto rowsAt = [&](int pitch) { return (count() + width / pitch - 1) / (width / pitch); };
  if (m_wanted) {
    m_pitch = kPitches[static_cast<std::size_t>(*m_wanted)];
  } else {
    const auto fits = std::find_if(kPitches.begin(), kPitches.end(), [&](int pitch) {
      return width >= pitch && rowsAt(pitch) * pitch + 2 * kMargin <= viewport()->height();
    });
    m_pitch = fits == kPitches.end() ? kPitches.back() : *fits;
  }
  m_columns = std::max(1, width / m_pitch);
  m_laidOut = static_cast<std::size_t>(count());
  contentChanged();
}

void PoolArea::zoom(int steps) {
  const auto present = std::find(kPitches.begin(), kPitches.end(), m_pitch) - kPitches.begin();
  m_wanted = std::clamp(static_cast<int>(present) - steps, 0, static_cast<int>(kPitches.size()) - 1);
  layOut();
  reveal(m_current);
}

void PoolArea::zoomToFit() {
  m_wanted.reset();
  layOut();
}

void PoolArea::resizeEvent(QResizeEvent* event) {
  layOut();
  ZoomedScroll::resizeEvent(event);
}

QSize PoolArea::contentSize() const {
  if (count() == 0) return viewport()->size();
  return {std::max(viewport()->width(), m_columns * m_pitch + 2 * kMargin),
          (count() + m_columns - 1) / m_columns * m_pitch + 2 * kMargin};
}

void PoolArea::paintPicture(QPainter& painter, const QSize& size) {
  const int columns = m_columns;
  if (count() > 0 && contentSize().height() > size.height()) {
    // If not all blocks fit, they are laid out in the shape of the picture and scaled down to fill it.
    const double shape = double(size.width()) / std::max(1, size.height());
    m_columns = std::max(m_columns, static_cast<int>(std::lround(std::sqrt(count() * shape))));
  }
  paintWhole(painter, size);
  m_columns = columns;
}

QRect PoolArea::cell(BlockId block) const {
  const int gap = m_pitch >= 40 ? 4 : 2;
  return {kMargin + block % m_columns * m_pitch, kMargin + block / m_columns * m_pitch, m_pitch - gap,
          m_pitch - gap};
}

BlockId PoolArea::blockAt(const QPoint& place) const {
  if (m_pitch == 0 || place.x() < kMargin || place.y() < kMargin) return -1;
  const int column = (place.x() - kMargin) / m_pitch;
  if (column >= m_columns) return -1;
  const int block = (place.y() - kMargin) / m_pitch * m_columns + column;
  return block < count() ? block : -1;
}

void PoolArea::reveal(BlockId block) {
  if (block > kNullBlock && block < count()) makeVisible(cell(block));
}

void PoolArea::paintContent(QPainter& painter, const QRect& visible) {
  if (count() == 0) {
    painter.setFont(theme().interfaceFont());
    painter.setPen(theme().color(Role::TextThird));
    painter.drawText(
        visible.adjusted(16, 16, -16, -16), Qt::AlignCenter | Qt::TextWordWrap,
        tr("Run a query or open a recording to see every block of the KV pool: free, cached or in use."));
    return;
  }
  const int first = std::max(0, (visible.top() - kMargin) / m_pitch) * m_columns;
  const int last = std::min(count(), ((visible.bottom() - kMargin) / m_pitch + 1) * m_columns);
  for (int id = first; id < last; ++id) {
    const PoolBlock& block = m_table->blocks[static_cast<std::size_t>(id)];
    const QRect place = cell(id);
    paintLook(painter, place, id);
    if (m_pitch >= 40) paintText(painter, place, id, block);
  }
  if (m_current != kNullBlock && m_current < count()) m_painter.ring(painter, cell(m_current));
}

void PoolArea::paintLook(QPainter& painter, const QRect& place, BlockId id) const {
  const auto index = static_cast<std::size_t>(id);
  const PoolBlock& block = m_table->blocks[index];
  BlockLook look = poolLook(block);
  if (m_shade == PoolShade::Age) {
    look = {};
    if (block.state == PoolBlockState::Null) look.core = BlockCore::Cross;
  }
  if (m_shade == PoolShade::Age && block.age >= 0) {
    painter.fillRect(place, Theme::heat(1 - double(block.age)));
  } else if (exporting()) {
    m_painter.block(painter, place, look);
  } else if (m_motion != nullptr && m_shade == PoolShade::State && index < m_motion->before.blocks.size()) {
    BlockLook before = poolLook(m_motion->before.blocks[index]);
    // A lost block looks evicted, as in the other views, before it disappears.
    if (m_motion->lost.contains(id)) before = {.role = BlockRole::Evicted};
    if (before == look)
      m_painter.stamp(painter, place, look);
    else
      paintBetween(painter, m_painter, place, before, look, m_done);
  } else {
    m_painter.stamp(painter, place, look);
  }
}

void PoolArea::paintText(QPainter& painter, const QRect& place, BlockId id, const PoolBlock& block) const {
  const BlockLook look = poolLook(block);
  QColor ink = theme().color(Role::TextSecond);
  if (m_shade == PoolShade::Age) {
    if (block.age >= 0) {
      const bool pale = Theme::heat(1 - double(block.age)).lightnessF() > 0.45F;
      ink = Theme(pale ? Scheme::Light : Scheme::Dark).color(Role::Text);
    }
  } else if (look.core == BlockCore::Dark) {
    ink = theme().color(Role::Surface);
  } else if (look.core == BlockCore::Light) {
    ink = theme().color(Role::Text);
  } else if (look.role != BlockRole::Free) {
    ink = theme().ink(look.role);
  }
  painter.setPen(ink);
  QFont font = theme().monoFont();
  font.setPixelSize(id > 9999 ? 9 : 11);
  painter.setFont(font);
  const bool counted = block.references > 0;
  painter.drawText(place.adjusted(0, counted ? 3 : 0, 0, counted ? -place.height() / 2 : 0), Qt::AlignCenter,
                   QStringLiteral("#%1").arg(id));
  if (counted) {
    painter.drawText(place.adjusted(0, place.height() / 2, 0, -3), Qt::AlignCenter,
                     QStringLiteral("×%1").arg(block.references));
  }
}

void PoolArea::pressed(const QPoint& place) {
  const BlockId block = blockAt(place);
  if (block >= 0) Q_EMIT chosen(block);
}

QString PoolArea::tipAt(const QPoint& place) const {
  const BlockId block = blockAt(place);
  return block >= 0 && m_tips ? m_tips(block) : QString();
}

void PoolArea::keyPressEvent(QKeyEvent* event) {
  if (count() == 0) {
    ZoomedScroll::keyPressEvent(event);
    return;
  }
  const int page = std::max(1, viewport()->height() / std::max(1, m_pitch) - 1) * m_columns;
  int next = m_current;
  switch (event->key()) {
    case Qt::Key_Right:
      ++next;
      break;
    case Qt::Key_Left:
      --next;
      break;
    case Qt::Key_Down:
      next += m_columns;
      break;
    case Qt::Key_Up:
      next -= m_columns;
      break;
    case Qt::Key_PageDown:
      next += page;
      break;
    case Qt::Key_PageUp:
      next -= page;
      break;
    case Qt::Key_Home:
      next = 1;
      break;
    case Qt::Key_End:
      next = count() - 1;
      break;
    default:
      ZoomedScroll::keyPressEvent(event);
      return;
  }
  // Block 0 cannot be selected: this block means "none".
  next = std::clamp(next, std::min(1, count() - 1), count() - 1);
  reveal(next);
  if (next != m_current) Q_EMIT chosen(next);
}

PoolMotion poolMotion(const ViewInput& input, const Moment& moment, const BlockHistory& history) {
  ViewInput earlier = input;
  earlier.position = moment.first;
  PoolMotion motion{.before = poolTable(earlier, history, PoolShade::State), .lost = {}};
  for (std::size_t i = moment.first; i < moment.last; ++i) {
    const trace::Payload& payload = input.trace->event(i).payload;
    if (const auto* removed = std::get_if<trace::BlockRemoved>(&payload)) {
      if (removed->reason != trace::RemovalReason::Grown) motion.lost.insert(removed->block);
    } else if (std::holds_alternative<trace::CacheCleared>(payload)) {
      for (std::size_t id = 0; id < motion.before.blocks.size(); ++id) {
        if (motion.before.blocks[id].state == PoolBlockState::Cached)
          motion.lost.insert(static_cast<BlockId>(id));
      }
    }
  }
  return motion;
}

}  // namespace spanscope::ui
