// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/pool_area.h"

#include "ui/session/run_list.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/pool/pool_view.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QKeyEvent>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

namespace spanscope::ui {

namespace {

const trace::BlockState* blockState(const trace::Replay& state, BlockId block) {
  const auto& blocks = state.pool().blocks();
  if (block < 0 || static_cast<std::size_t>(block) >= blocks.size()) return nullptr;
  return &blocks[static_cast<std::size_t>(block)];
}

PoolBlockState stateOf(const trace::BlockState& block, std::size_t id) {
  if (id == 0) return PoolBlockState::Null;
  if (block.references > 0) return block.cached ? PoolBlockState::Held : PoolBlockState::Computing;
  // Events of a watched server are missing.
  if (block.cached && block.fill == 0) return PoolBlockState::Unknown;
  return block.cached ? PoolBlockState::Cached : PoolBlockState::Free;
}

QString hex(std::uint64_t value, int digits) {
  return QStringLiteral("%1").arg(value, digits, 16, QLatin1Char('0'));
}

QString shortKey(const trace::BlockKey& key) {
  return hex(key.high >> 48U, 4) + QStringLiteral("…") + hex(key.low & 0xFFU, 2);
}

QString ordinal(std::size_t place) {
  const std::size_t tens = place % 100;
  const char* ending = "th";
  if (tens < 11 || tens > 13) {
    if (place % 10 == 1) ending = "st";
    if (place % 10 == 2) ending = "nd";
    if (place % 10 == 3) ending = "rd";
  }
  return QString::number(place) + QString::fromLatin1(ending);
}

QString duration(std::int64_t nanoseconds) {
  const double milliseconds = double(nanoseconds) / 1e6;
  if (milliseconds < 1000) return tr("%1 ms").arg(milliseconds, 0, 'f', milliseconds < 10 ? 2 : 0);
  return tr("%1 s").arg(milliseconds / 1000, 0, 'f', 1);
}

std::int64_t timeAt(const ViewInput& input) {
  return input.position == 0 ? 0 : input.trace->event(input.position - 1).time;
}

/// Whether a run is known to be another document's. Without records every run of a trace is the document's.
bool isAnothers(const ViewInput& input, RunId run) {
  if (run == 0) return false;
  if (!input.state().progress().runs.contains(run)) return true;
  return input.records && !input.paths.contains(run);
}

QString ownerText(const ViewInput& input, const trace::BlockState& block) {
  // The kept events of a run do not have the requests of other runs.
  if (block.storedByRequest == 0 && block.storedByRun != 0)
    return tr(/*id:stored-by-another-run*/ "stored by another run, as its block %1").arg(block.virtualIndex);
  if (block.storedByRequest == 0) return tr("owner not reported");
  QString name = nodeName(input, block.storedByRun, block.storedByNode);
  const auto& requests = input.state().progress().requests;
  if (const auto by = requests.find(block.storedByRequest); by != requests.end()) {
    const RequestParts parts = requestParts(input, block.storedByRequest);
    const std::int32_t size = std::max(1, input.state().pool().blockSize());
    for (std::uint32_t i = 0; i < by->second.segments.size(); ++i) {
      const trace::SegmentInfo& segment = by->second.segments[i];
      const std::int32_t begin = block.virtualIndex * size;
      if (segment.node == block.storedByNode && segment.base == block.base)
        name = parts.nameOf(i, begin, begin + std::max(1, block.fill));
    }
  }
  return tr("stored by %1, %2, as its block %3")
      .arg(requestName(input.state(), block.storedByRequest), name)
      .arg(block.virtualIndex);
}

/// For each block, the kinds of requests that use it, as bits.
enum Holders : std::uint8_t { Own = 1, Others = 2 };
std::vector<std::uint8_t> holdersOfAll(const ViewInput& input) {
  std::vector<std::uint8_t> held(input.state().pool().blocks().size(), 0);
  for (const auto& [id, request] : input.state().progress().requests) {
    if (request.phase == trace::RequestPhase::Finished) continue;
    const std::uint8_t bit = isAnothers(input, request.run) ? Others : Own;
    for (const auto& [place, block] : request.blocks) {
      const auto index = static_cast<std::size_t>(block.block);
      if (index < held.size()) held[index] = static_cast<std::uint8_t>(held[index] | bit);
    }
  }
  return held;
}

/// Whether only requests of other documents use a block that is in use. `holders`: its bits. A trace that
/// begins in the middle of a session lacks some requests, e.g. the kept events of one run.
bool isHeldByOthers(const ViewInput& input, std::uint8_t holders) {
  return holders == Others || (holders == 0 && !input.state().progress().whole);
}

/// The names of the requests that use a block now.
QStringList holders(const ViewInput& input, BlockId block) {
  QStringList names;
  for (const auto& [id, request] : input.state().progress().requests) {
    if (request.phase == trace::RequestPhase::Finished) continue;
    if (!placeOf(input.state(), id, block)) continue;
    const QString name = requestName(input.state(), id);
    names << (isAnothers(input, request.run) ? tr("another run (%1)").arg(name) : name);
  }
  if (names.isEmpty() && isHeldByOthers(input, 0)) names << tr("another run");
  return names;
}

}  // namespace

QString poolStateName(PoolBlockState state) {
  switch (state) {
    case PoolBlockState::Null:
      return tr("null block");
    case PoolBlockState::Free:
      return metricShortName("free-blocks");
    case PoolBlockState::Cached:
      return metricShortName("cached-blocks");
    case PoolBlockState::Held:
      return metricShortName("blocks-in-use");
    case PoolBlockState::Unknown:
      return tr("unknown content");
    case PoolBlockState::Computing:
      break;
  }
  return tr("being computed");
}

PoolTable poolTable(const ViewInput& input, const BlockHistory& history, PoolShade shade) {
  const trace::PoolReplay& pool = input.state().pool();
  PoolTable table;
  table.blockSize = pool.blockSize();
  table.blocks.resize(pool.blocks().size());
  std::int64_t oldest = 0;
  const std::int64_t now = timeAt(input);
  const std::vector<std::uint8_t> holders = holdersOfAll(input);
  std::vector<std::int64_t> ages;
  if (shade == PoolShade::Age) ages.assign(table.blocks.size(), -1);
  std::int32_t unknown = 0;
  for (std::size_t i = 0; i < table.blocks.size(); ++i) {
    const trace::BlockState& from = pool.blocks()[i];
    PoolBlock& to = table.blocks[i];
    to.state = stateOf(from, i);
    to.references = from.references;
    to.fill = from.fill;
    if (to.state == PoolBlockState::Unknown) ++unknown;
    if (to.state == PoolBlockState::Held || to.state == PoolBlockState::Computing) {
      to.isOthers = isHeldByOthers(input, holders[i]);
      if (to.isOthers) ++table.others;
    }
    if (ages.empty() || !from.cached) continue;
    if (const auto stored = history.storedAt(static_cast<BlockId>(i), input.position)) {
      ages[i] = now - input.trace->event(*stored).time;
      oldest = std::max(oldest, ages[i]);
    }
  }
  const RequestBlocks shown = requestBlocks(*input.trace, input.state(), input.shownRequest());
  for (const SegmentVirtualBlocks& segment : shown.segments) {
    for (const VirtualBlockFacts& facts : segment.blocks) {
      const auto id = static_cast<std::size_t>(facts.physical);
      if (facts.physical == kNullBlock || id >= table.blocks.size()) continue;
      if (history.lostAt(facts.physical, shown.request, input.position)) continue;
      if (table.blocks[id].state == PoolBlockState::Free) continue;
      table.blocks[id].shown = facts.role;
      table.blocks[id].loaded = facts.load != 0;
      table.anyLoaded = table.anyLoaded || facts.load != 0;
    }
  }
  for (std::size_t i = 0; i < ages.size(); ++i) {
    if (ages[i] >= 0) table.blocks[i].age = oldest == 0 ? 0.F : float(double(ages[i]) / double(oldest));
  }
  table.oldest = double(oldest) / 1e9;
  if (!table.blocks.empty()) {
    const metrics::PoolFacts facts{.blocks = metrics::countsOf(pool)};
    table.summary = tr("%1 blocks").arg(table.blocks.size() - 1);
    for (const char* const id : {"blocks-in-use", "cached-blocks", "free-blocks"})
      table.summary += tr(" · %1").arg(metricPhraseOf(id, facts));
    if (unknown > 0) table.summary += tr(" · %1 with unknown content").arg(unknown);
    if (table.others > 0)
      table.summary +=
          tr(" · %1 by another run").arg(metricPhrase("blocks-in-use", static_cast<double>(table.others)));
    const StoreTable store = storeTable(input);
    if (!store.summary.isEmpty()) table.summary += tr(" · ") + store.summary;
  }
  return table;
}

PoolDetail poolDetail(const ViewInput& input, const BlockHistory& history, BlockId block) {
  const trace::BlockState* own = blockState(input.state(), block);
  if (own == nullptr) return {};
  PoolDetail detail{.block = block, .text = {}};
  const PoolBlockState state = stateOf(*own, static_cast<std::size_t>(block));
  if (state == PoolBlockState::Null) {
    detail.text = tr("#0 · the null block: a placeholder that is never allocated");
    return detail;
  }
  const trace::PoolReplay& pool = input.state().pool();
  QStringList first{QStringLiteral("#%1").arg(block), poolStateName(state)};
  if (own->references > 0) {
    first << (own->references == 1 ? tr("1 reference") : tr("%1 references").arg(own->references));
    const QStringList names = holders(input, block);
    if (!names.isEmpty()) first << tr("in use by %1").arg(names.join(tr(" and ")));
  } else if (hasOrder(*input.trace)) {
    const std::vector<BlockId> order = pool.freeOrder();
    const auto place = std::find(order.begin(), order.end(), block);
    if (place != order.end()) {
      const QString nth = ordinal(static_cast<std::size_t>(place - order.begin()) + 1);
      first << (own->cached ? tr("would be evicted %1") : tr("would be allocated %1")).arg(nth);
    }
  }
  QStringList lines{first.join(QStringLiteral(" · "))};
  if (state == PoolBlockState::Unknown) {
    lines << tr("The server's events about this block are missing.");
  } else if (own->cached) {
    lines << QStringList{ownerText(input, *own),
                         tr("%1 of %2 slots filled").arg(own->fill).arg(pool.blockSize()),
                         tr("key %1").arg(shortKey(own->key))}
                 .join(QStringLiteral(" · "));
    const auto stored = history.storedAt(block, input.position);
    const std::int64_t now = timeAt(input);
    QStringList times{tr("position %1").arg(own->base + std::int64_t{own->virtualIndex} * pool.blockSize())};
    const bool hasTimes = !isPredicted(*input.trace);
    if (stored && !hasTimes)
      times << tr("stored %1 events ago").arg(input.position - *stored - 1);
    else
      times << (stored ? tr("stored %1 and %2 events ago")
                             .arg(duration(now - input.trace->event(*stored).time))
                             .arg(input.position - *stored - 1)
                       : tr("stored before the recording"));
    // A use before the block was stored concerns other contents.
    const auto used = history.usedAt(block, input.position);
    if (used && hasTimes && (!stored || *used >= *stored))
      times << tr("last used %1 ago").arg(duration(now - input.trace->event(*used).time));
    lines << times.join(QStringLiteral(" · "));
  }
  detail.text = lines.join(QLatin1Char('\n'));
  return detail;
}

QString poolTip(const ViewInput& input, BlockId block) {
  const trace::BlockState* own = blockState(input.state(), block);
  if (own == nullptr) return {};
  const PoolBlockState state = stateOf(*own, static_cast<std::size_t>(block));
  QString text = QStringLiteral("#%1 · %2").arg(block).arg(poolStateName(state));
  if (own->references > 0) {
    text += QStringLiteral(" ×%1").arg(own->references);
    const QStringList names = holders(input, block);
    if (!names.isEmpty()) text += QLatin1Char('\n') + tr("in use by %1").arg(names.join(tr(" and ")));
  }
  if (own->cached && state != PoolBlockState::Unknown) {
    text += QLatin1Char('\n') + ownerText(input, *own);
    text +=
        QLatin1Char('\n') + tr("%1 of %2 slots filled").arg(own->fill).arg(input.state().pool().blockSize());
  }
  return text;
}

Selection selectionOfPhysical(const ViewInput& input, const BlockHistory& history, BlockId block) {
  const trace::Replay& state = input.state();
  const trace::BlockState* own = blockState(state, block);
  const auto placeIn = [&](RequestId request) {
    std::optional<BlockRef> place = placeOf(state, request, block);
    if (place && history.lostAt(block, request, input.position)) place.reset();
    return place;
  };
  std::optional<BlockRef> place = placeIn(input.shownRequest());
  if (!place && own != nullptr) place = placeIn(own->storedByRequest);
  Selection selection;
  if (place) {
    selection = selectionOfBlock(input, *place);
  } else {
    selection.nodes = input.selection.nodes;
    selection.request = input.selection.request;
  }
  selection.physical = block;
  return selection;
}

QString poolCsv(const ViewInput& input) {
  const trace::PoolReplay& pool = input.state().pool();
  if (pool.blocks().empty()) return {};
  std::vector<std::size_t> place(pool.blocks().size(), 0);
  std::size_t next = 0;
  for (const BlockId block : pool.freeOrder()) place[static_cast<std::size_t>(block)] = ++next;
  QString csv = csvLine({QStringLiteral("block"), QStringLiteral("state"), QStringLiteral("references"),
                         QStringLiteral("fill"), QStringLiteral("key"), QStringLiteral("run"),
                         QStringLiteral("request"), QStringLiteral("node"), QStringLiteral("index"),
                         QStringLiteral("base"), QStringLiteral("eviction_order"), QStringLiteral("model"),
                         QStringLiteral("blocks"), QStringLiteral("bytes"), QStringLiteral("age_ms"),
                         QStringLiteral("unused_ms"), QStringLiteral("text")});
  for (std::size_t i = 0; i < pool.blocks().size(); ++i) {
    const trace::BlockState& own = pool.blocks()[i];
    csv += csvLine({QString::number(i), poolStateName(stateOf(own, i)), QString::number(own.references),
                    QString::number(own.fill),
                    own.cached ? hex(own.key.high, 16) + hex(own.key.low, 16) : QString(),
                    own.cached ? QString::number(own.storedByRun) : QString(),
                    own.cached ? QString::number(own.storedByRequest) : QString(),
                    own.cached ? QString::fromStdString(own.storedByNode) : QString(),
                    own.cached ? QString::number(own.virtualIndex) : QString(),
                    own.cached ? QString::number(own.base) : QString(),
                    place[i] == 0 ? QString() : QString::number(place[i]), QString(), QString(), QString(),
                    QString(), QString(), QString()});
  }
  csv += storeCsv(input);
  return csv;
}

namespace {

constexpr int kMargin = 3 * kSpace;
constexpr std::array<int, 5> kPitches{88, 64, 44, 20, 12};

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
    case PoolBlockState::Unknown:
      look.core = BlockCore::Frame;
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
  keepVisible([this, block] {
    if (block > kNullBlock && block < count()) makeVisible(cell(block));
  });
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
  constexpr int kTextPitch = 44;  // the smallest cells with a text
  font.setPixelSize(font.pixelSize() * std::max(kTextPitch, m_pitch) / kTextPitch);
  painter.setFont(font);
  QString name = QStringLiteral("#%1").arg(id);
  // A large number has no room for the sign before it.
  if (painter.fontMetrics().horizontalAdvance(name) > place.width()) name = QString::number(id);
  const bool counted = block.references > 0;
  painter.drawText(place.adjusted(0, counted ? 3 : 0, 0, counted ? -place.height() / 2 : 0), Qt::AlignCenter,
                   name);
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
