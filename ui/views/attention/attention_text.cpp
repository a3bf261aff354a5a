// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/report.h"
#include "ui/views/attention/attention_model.h"
#include "ui/views/attention/attention_rows.h"
#include "ui/views/common/number_text.h"
#include "ui/words/part_text.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cmath>

namespace spanscope::ui {

namespace {

bool isRecomputed(const AttentionRow& row, std::uint32_t key) {
  return std::find(row.again.begin(), row.again.end(), key) != row.again.end();
}

}  // namespace

QString attentionReadout(const AttentionModel& model, const AttentionOptions& options, std::int32_t row,
                         std::int32_t column) {
  const AttentionSegment* key = model.segmentOfColumn(column);
  if (key == nullptr || row < 0 || static_cast<std::size_t>(row) >= model.rows.size()) return {};
  const AttentionRow& query = model.rows[static_cast<std::size_t>(row)];
  const auto blocks = [](std::int32_t first, std::int32_t count) {
    return count > 1 ? tr("blocks %1–%2").arg(first).arg(first + count - 1) : tr("block %1").arg(first);
  };
  const QString own = model.nameOfRow(row);
  const QString other = model.nameOfColumn(column);
  const auto tokenName = [](const QString& segment, std::int32_t token, const QString& text) {
    return tr("%1 token %2 “%3”").arg(segment).arg(token).arg(text.trimmed());
  };
  QString from = tr("%1 %2").arg(own, blocks(query.block, query.blocks));
  if (query.token >= 0) from = tokenName(own, query.token, query.text);
  if (query.answer >= 0) from = tr("for “%1”").arg(query.text.simplified());
  const std::int32_t keyToken = model.tokenOfColumn(column);
  QString to = other;
  if (keyToken >= 0) {
    to = tokenName(other, keyToken, key->texts[static_cast<std::size_t>(keyToken)]);
  } else if (key->grain != AttentionGrain::Segments) {
    to = tr("%1 %2").arg(other, blocks(model.blockOfColumn(column), model.blocksOfColumn(column)));
  }
  const QString pair = tr("%1 → %2: ").arg(from, to);
  switch (model.states[model.at(row, column)]) {
    case CellState::Blank:
      return pair + tr("masked: the key is later in the prompt");
    case CellState::Forbidden:
      return pair + tr("masked: the tree separates row and key");
    case CellState::Outside:
      return pair + tr("outside the window of %1 positions").arg(model.window.tokens);
    case CellState::Missing:
      return pair +
             (model.leftOut ? tr("not recorded (%1)").arg(leftOutText(*model.leftOut)) : tr("not recorded"));
    case CellState::Measured:
      break;
  }
  const QString layer = options.layer ? tr("layer %1").arg(*options.layer) : tr("mean of layers");
  const QString head = options.head ? tr("head %1").arg(*options.head) : tr("mean of heads");
  QString text = pair + massText(static_cast<double>(model.mass[model.at(row, column)])) +
                 tr(", %1, %2").arg(layer, head);
  if (isRecomputed(query, key->segment)) text += tr(/*id:computed-again-after*/ ", recomputed after the run");
  if (query.source == RowSource::Earlier) {
    text += query.run == model.run ? tr(", recorded for request %1, reused here").arg(query.request)
                                   : tr(", recorded in run %1, reused here").arg(query.run);
  }
  return text;
}

QString leftOutText(const trace::AttentionLeftOut& leftOut) {
  trace::Event event;
  event.payload = leftOut;
  return eventText(trace::wordsOf(event));
}

QString attentionCsv(const AttentionModel& model) {
  QString text = csvLine({tr("query"), tr("query block"), tr("query token"), tr("key"), tr("key block"),
                          tr("key token"), tr("state"), tr("mass"), tr("recorded in run")});
  for (std::size_t r = 0; r < model.rows.size(); ++r) {
    const AttentionRow& row = model.rows[r];
    for (std::int32_t column = 0; column < model.columns; ++column) {
      const std::size_t cell = model.at(static_cast<std::int32_t>(r), column);
      const CellState state = model.states[cell];
      if (state == CellState::Blank) continue;
      const bool measured = state == CellState::Measured;
      const AttentionSegment& key = *model.segmentOfColumn(column);
      const QString word = measured && isRecomputed(row, key.segment) ? tr("recomputed")
                           : measured                                 ? tr("measured")
                           : state == CellState::Forbidden            ? tr("masked")
                           : state == CellState::Outside ? tr(/*id:outside-window*/ "outside the window")
                                                         : tr("not recorded");
      text += csvLine(
          {model.nameOfRow(static_cast<std::int32_t>(r)), QString::number(row.block),
           row.token < 0 ? QString() : QString::number(row.token), model.nameOfColumn(column),
           key.grain == AttentionGrain::Segments ? QString() : QString::number(model.blockOfColumn(column)),
           key.grain == AttentionGrain::Tokens ? QString::number(model.tokenOfColumn(column)) : QString(),
           word, measured ? csvNumber(static_cast<double>(model.mass[cell])) : QString(),
           measured ? QString::number(row.run) : QString()});
    }
  }
  return text;
}

namespace {

/// Max decades of a logarithmic scale.
constexpr double kDecades = 4;

/// Rounds up to the next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten.
double roundUp(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (value <= step * power * 1.0000001) return step * power;
  }
  return 10 * power;
}

/// The largest mass of a row among the cells that count for a scale.
double highestOf(const AttentionModel& model, std::int32_t row) {
  double highest = 0;
  const bool answer = model.rowSet == AttentionRowSet::Answer;
  for (const AttentionSegment& segment : model.segments) {
    if (answer && &segment == &model.segments.back()) break;
    for (std::int32_t column = segment.firstColumn; column < segment.firstColumn + segment.columns;
         ++column) {
      if (answer && column == model.sinkColumn) continue;
      highest = std::max(highest, static_cast<double>(model.mass[model.at(row, column)]));
    }
  }
  return highest;
}

}  // namespace

AttentionShades attentionShades(const AttentionModel& model, AttentionScale scale) {
  AttentionShades result;
  result.shades.assign(model.mass.size(), 0.0F);
  result.top = roundUp(static_cast<double>(model.highest));
  if (scale == AttentionScale::ByRow) result.top = 1;
  if (scale == AttentionScale::Logarithmic) {
    // The scale covers whole decades, so that its numbers are powers of ten.
    result.top = std::min(1.0, std::pow(10, std::ceil(std::log10(result.top) - 1e-9)));
    const double lowest = model.lowest > 0 ? static_cast<double>(model.lowest) : result.top / 10;
    const double decade = std::pow(10, std::floor(std::log10(lowest) + 1e-9));
    result.bottom = std::clamp(decade, result.top / std::pow(10, kDecades), result.top / 10);
  }
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(model.rows.size()); ++row) {
    const double highest = scale == AttentionScale::ByRow ? highestOf(model, row) : 0;
    for (std::int32_t column = 0; column < model.columns; ++column) {
      const std::size_t cell = model.at(row, column);
      const auto mass = static_cast<double>(model.mass[cell]);
      if (model.states[cell] != CellState::Measured || mass <= 0) continue;
      double shade = mass / result.top;
      if (scale == AttentionScale::ByRow) shade = highest > 0 ? mass / highest : 1;
      if (scale == AttentionScale::Logarithmic)
        shade = std::log(mass / result.bottom) / std::log(result.top / result.bottom);
      result.shades[cell] = static_cast<float>(std::clamp(shade, 0.0, 1.0));
    }
  }
  return result;
}

// This part of the attention model names the rows and columns of the map, and chooses their grain.

namespace {

/// A narrower cell is too small to see.
constexpr double kNarrowestCell = 5;
/// A lower row has no space for its name.
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
      // A block may contain tokens of several sections.
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

/// Whether a range overlaps the cell from `at` to `at` + 1.
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
