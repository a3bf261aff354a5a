// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the attention model that says what rows and columns of the map stand for, and how fine they
// are.
#include "ui/views/attention/attention_model.h"
#include "ui/views/attention/attention_rows.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

/// A person no longer sees a cell that is narrower than this.
constexpr double kNarrowestCell = 5;
/// A row lower than this has no room for its name.
constexpr double kLowestRow = 9;

}  // namespace

std::vector<std::int32_t> blockCounts(const trace::RequestState& request, std::int32_t blockSize) {
  std::vector<std::int32_t> blocks(request.segments.size(), 0);
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    const auto tokens = static_cast<std::int32_t>(request.segments[s].tokens.size());
    blocks[s] = (tokens + blockSize - 1) / blockSize;
  }
  for (const auto& [place, block] : request.blocks) {
    if (place.segment < blocks.size())
      blocks[place.segment] = std::max(blocks[place.segment], place.virtualIndex + 1);
  }
  return blocks;
}

AttentionGrain grainFor(const ViewInput& input, double pixels) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(input.shownRequest());
  if (found == requests.end()) return AttentionGrain::Blocks;
  std::int32_t blocks = 0;
  for (const std::int32_t count : blockCounts(found->second, std::max(1, input.state().pool().blockSize())))
    blocks += count;
  const bool fits = blocks * kNarrowestCell <= pixels || found->second.segments.size() < 2;
  return fits ? AttentionGrain::Blocks : AttentionGrain::Segments;
}

std::int32_t answersPerRowFor(const ViewInput& input, double pixels) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(input.shownRequest());
  if (found == requests.end()) return 1;
  const auto rows = std::max(1.0, std::floor(pixels / kLowestRow));
  return std::max(
      1, static_cast<std::int32_t>(std::ceil(static_cast<double>(found->second.generatedTokens) / rows)));
}

std::optional<AttentionGrain> finerGrain(const AttentionModel& model, std::uint32_t segment) {
  if (segment >= model.segments.size()) return std::nullopt;
  switch (model.segments[segment].grain) {
    case AttentionGrain::Segments:
      // A block may hold tokens of several parts.
      if (!model.byPart) return AttentionGrain::Blocks;
      [[fallthrough]];
    case AttentionGrain::Blocks:
      return model.singleKeys ? std::optional(AttentionGrain::Tokens) : std::nullopt;
    case AttentionGrain::Tokens:
      break;
  }
  return std::nullopt;
}

TokenRef AttentionModel::placeOf(std::uint32_t segment) const {
  if (!byPart) return {.request = request, .segment = segment, .local = 0};
  const trace::PartRange& first = byPart->ranges[segment].front();
  return {.request = request, .segment = first.segment, .local = first.begin};
}

TokenRef AttentionModel::placeOf(const AttentionRow& row) const {
  if (byPart && row.answer >= 0)
    return {.request = request, .segment = byPart->lastSegment, .local = byPart->prompt + row.answer};
  return {.request = request, .segment = row.segment, .local = row.token};
}

const AttentionSegment* AttentionModel::segmentOfColumn(std::int32_t column) const {
  for (const AttentionSegment& segment : segments) {
    if (column >= segment.firstColumn && column < segment.firstColumn + segment.columns) return &segment;
  }
  return nullptr;
}

namespace {

QString joined(const QStringList& names) {
  return names.size() < 2 ? names.join(QString()) : tr("%1 and %2").arg(names.front(), names.back());
}

/// Whether a stretch holds some of the place from `at` to `at` + 1.
bool holds(double first, double count, std::int32_t at) {
  constexpr double kSlack = 1e-9;
  return count > 0 && first < at + 1 - kSlack && first + count > at + kSlack;
}

}  // namespace

QString AttentionModel::nameOfColumn(std::int32_t column) const {
  const AttentionSegment* segment = segmentOfColumn(column);
  if (segment == nullptr) return {};
  QStringList names;
  for (const AttentionPart& part : parts) {
    if (holds(part.firstColumn, part.columns, column)) names << part.name;
  }
  return names.isEmpty() ? segment->name : joined(names);
}

QString AttentionModel::nameOfRow(std::int32_t row) const {
  if (row < 0 || static_cast<std::size_t>(row) >= rows.size()) return {};
  QStringList names;
  for (const AttentionPart& part : parts) {
    if (holds(part.firstRow, part.rows, row)) names << part.name;
  }
  return names.isEmpty() ? segments[rows[static_cast<std::size_t>(row)].segment].name : joined(names);
}

std::int32_t AttentionModel::blockOfColumn(std::int32_t column) const {
  const AttentionSegment* segment = segmentOfColumn(column);
  if (segment == nullptr || segment->grain == AttentionGrain::Segments) return 0;
  const std::int32_t place = column - segment->firstColumn;
  return segment->grain == AttentionGrain::Tokens ? place / blockSize : place * blocksPerCell;
}

std::int32_t AttentionModel::blocksOfColumn(std::int32_t column) const {
  const AttentionSegment* segment = segmentOfColumn(column);
  if (segment == nullptr || segment->grain == AttentionGrain::Tokens) return 1;
  if (segment->grain == AttentionGrain::Segments) return segment->blocks;
  return std::min(blocksPerCell, segment->blocks - blockOfColumn(column));
}

std::int32_t AttentionModel::tokenOfColumn(std::int32_t column) const {
  const AttentionSegment* segment = segmentOfColumn(column);
  return segment == nullptr || segment->grain != AttentionGrain::Tokens ? -1 : column - segment->firstColumn;
}

std::vector<AttentionRegion> AttentionModel::regions(CellState state) const {
  std::vector<AttentionRegion> done;
  std::vector<AttentionRegion> open;
  const auto rowCount = static_cast<std::int32_t>(rows.size());
  for (std::int32_t row = 0; row < rowCount; ++row) {
    std::vector<AttentionRegion> next;
    for (std::int32_t column = 0; column < columns;) {
      if (states[at(row, column)] != state) {
        ++column;
        continue;
      }
      AttentionRegion stretch{.firstRow = row, .rows = 1, .firstColumn = column, .columns = 0};
      while (column < columns && states[at(row, column)] == state) ++column;
      stretch.columns = column - stretch.firstColumn;
      const auto same = std::find_if(open.begin(), open.end(), [&stretch](const AttentionRegion& above) {
        return above.firstColumn == stretch.firstColumn && above.columns == stretch.columns;
      });
      if (same != open.end()) {
        stretch = *same;
        ++stretch.rows;
        open.erase(same);
      }
      next.push_back(stretch);
    }
    done.insert(done.end(), open.begin(), open.end());
    open = std::move(next);
  }
  done.insert(done.end(), open.begin(), open.end());
  return done;
}

}  // namespace spanscope::ui
