// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/block_table/block_table_motion.h"

#include "ui/words/tr.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

std::pair<std::size_t, std::size_t> orderOf(const CellPlace& place) {
  return {place.row, place.cell};
}

QString noteOf(const trace::BlockLookedUp& lookup, std::int32_t blockSize) {
  const std::int64_t shift = std::int64_t{lookup.virtualIndex} * blockSize;
  if (lookup.base == lookup.storedBase)
    return tr("stored at position %1, used there").arg(lookup.base + shift);
  return tr("stored at position %1, used at %2").arg(lookup.storedBase + shift).arg(lookup.base + shift);
}

/// The places of blocks in the row of one request, and in the rows above it.
class RowPlaces {
 public:
  explicit RowPlaces(const BlockTable& table) : m_table(table), m_row(table.rows.size()) {}

  void show(RequestId request) {
    if (request == m_request) return;
    m_request = request;
    m_cells.clear();
    m_users.clear();
    m_holders.clear();
    m_row = 0;
    while (m_row < m_table.rows.size() && m_table.rows[m_row].request != request) ++m_row;
    if (m_row == m_table.rows.size()) return;
    const std::vector<TableCell>& own = m_table.rows[m_row].cells;
    for (std::size_t cell = 0; cell < own.size(); ++cell) {
      const BlockRef& place = own[cell].facts.place;
      m_cells.emplace(std::pair(place.segment, place.virtualIndex), cell);
      m_users.emplace(own[cell].facts.physical, cell);
    }
    // If several rows use a block, the nearest row counts.
    for (std::size_t above = m_row; above-- > 0;) {
      for (std::size_t cell = 0; cell < m_table.rows[above].cells.size(); ++cell) {
        const TableCell& holder = m_table.rows[above].cells[cell];
        if (holder.isThere()) m_holders.emplace(holder.facts.physical, CellPlace{above, cell});
      }
    }
  }

  std::optional<CellPlace> cell(std::uint32_t segment, std::int32_t block) const {
    const auto found = m_cells.find(std::pair(segment, block));
    return found == m_cells.end() ? std::nullopt : std::optional(CellPlace{m_row, found->second});
  }
  std::optional<CellPlace> user(BlockId block) const {
    const auto found = m_users.find(block);
    return found == m_users.end() ? std::nullopt : std::optional(CellPlace{m_row, found->second});
  }
  std::optional<CellPlace> holder(BlockId block) const {
    const auto found = m_holders.find(block);
    return found == m_holders.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const BlockTable& m_table;
  RequestId m_request = 0;
  std::size_t m_row;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::size_t> m_cells;
  std::unordered_map<BlockId, std::size_t> m_users;
  std::unordered_map<BlockId, CellPlace> m_holders;
};

void addTravel(TableMotion& motion, const TraceStore& trace, const BlockTable& table,
               const std::optional<CellPlace>& from, const std::optional<CellPlace>& to) {
  if (!from || !to) return;
  const VirtualBlockFacts& facts = table.rows[to->row].cells[to->cell].facts;
  const trace::BlockLookedUp* lookup = lookupEvent(trace, facts.lookup);
  if (lookup == nullptr) return;
  const bool isMoved = lookup->base != lookup->storedBase;
  motion.travels.push_back(
      {.from = *from, .to = *to, .role = isMoved ? BlockRole::Relocated : BlockRole::Hit});
  if (motion.note.isEmpty()) motion.note = noteOf(*lookup, table.blockSize);
}

}  // namespace

bool TableMotion::isComputing(const CellPlace& place) const {
  return std::binary_search(computing.begin(), computing.end(), place,
                            [](const CellPlace& a, const CellPlace& b) { return orderOf(a) < orderOf(b); });
}

const TableCell* TableMotion::cellBefore(const CellPlace& place) const {
  if (place.row >= rowBefore.size() || rowBefore[place.row] < 0) return nullptr;
  const std::vector<TableCell>& cells = before.rows[static_cast<std::size_t>(rowBefore[place.row])].cells;
  return place.cell < cells.size() ? &cells[place.cell] : nullptr;
}

bool TableMotion::travelsTo(const CellPlace& place) const {
  const auto found = std::lower_bound(travels.begin(), travels.end(), place,
                                      [](const TableTravel& travel, const CellPlace& wanted) {
                                        return orderOf(travel.to) < orderOf(wanted);
                                      });
  return found != travels.end() && found->to == place;
}

TableMotion tableMotion(const ViewInput& input, const Moment& moment, const BlockTable& table,
                        const BlockHistory& history) {
  TableMotion motion;
  ViewInput earlier = input;
  earlier.position = moment.first;
  motion.before = blockTable(earlier, history);
  std::map<RequestId, int> rows;
  for (std::size_t row = 0; row < motion.before.rows.size(); ++row)
    rows.emplace(motion.before.rows[row].request, static_cast<int>(row));
  for (const TableRow& row : table.rows) {
    const auto found = rows.find(row.request);
    motion.rowBefore.push_back(found == rows.end() ? -1 : found->second);
  }

  RowPlaces places(table);
  for (std::size_t i = moment.first; i < moment.last; ++i) {
    const trace::Event& event = input.trace->event(i);
    if (const auto* shared = std::get_if<trace::BlockShared>(&event.payload)) {
      places.show(event.request);
      const std::optional<CellPlace> to = places.cell(shared->segment, shared->virtualIndex);
      addTravel(motion, *input.trace, table, places.holder(shared->block), to);
    } else if (const auto* copied = std::get_if<trace::BlockCopied>(&event.payload)) {
      places.show(event.request);
      addTravel(motion, *input.trace, table, places.holder(copied->source), places.user(copied->target));
    } else if (const auto* batch = std::get_if<trace::BatchComputed>(&event.payload)) {
      for (const trace::BatchEntry& entry : batch->entries) {
        if (entry.decode) continue;  // a single new token has no motion
        places.show(entry.request);
        const std::int32_t end = entry.begin + entry.count;
        for (std::int32_t block = entry.begin / table.blockSize; block * table.blockSize < end; ++block) {
          if (const std::optional<CellPlace> cell = places.cell(entry.segment, block))
            motion.computing.push_back(*cell);
        }
      }
    }
  }
  std::sort(motion.computing.begin(), motion.computing.end(),
            [](const CellPlace& x, const CellPlace& y) { return orderOf(x) < orderOf(y); });
  std::sort(motion.travels.begin(), motion.travels.end(),
            [](const TableTravel& a, const TableTravel& b) { return orderOf(a.to) < orderOf(b.to); });
  return motion;
}

}  // namespace spanscope::ui
