// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/pool_model.h"

#include "ui/session/predicted_runs.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/pool/store_list.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <algorithm>

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
  for (std::size_t i = 0; i < table.blocks.size(); ++i) {
    const trace::BlockState& from = pool.blocks()[i];
    PoolBlock& to = table.blocks[i];
    to.state = stateOf(from, i);
    to.references = from.references;
    to.fill = from.fill;
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
  if (own->cached) {
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
    if (const auto used = history.usedAt(block, input.position); used && hasTimes)
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
  if (own->cached) {
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

}  // namespace spanscope::ui
