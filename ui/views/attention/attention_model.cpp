// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_model.h"

#include "ui/views/attention/attention_rows.h"
#include "ui/views/common/csv_line.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace spanscope::ui {
namespace {

/// Whether a row of segment `row` sees any of the tokens of segment `key` before `end`.
bool sees(const std::vector<trace::SegmentInfo>& segments, std::uint32_t row, std::uint32_t key,
          std::int32_t end) {
  const auto& list = segments[row].sees;
  return std::find(list.begin(), list.end(), key) != list.end() && end > segments[key].visibleBegin;
}

/// How the tokens of a segment are shown, those that were generated into it included.
std::vector<QString> tokenTexts(const ViewInput& input, const trace::RequestState& request, RequestId id,
                                std::size_t segment) {
  const trace::SegmentInfo& info = request.segments[segment];
  std::vector<QString> texts;
  for (std::size_t i = 0; i < info.tokens.size(); ++i)
    texts.push_back(i < info.texts.size() ? QString::fromStdString(info.texts[i]) : QString());
  const RequestEvents* events = input.trace->request(id);
  if (events == nullptr || segment + 1 != request.segments.size()) return texts;
  for (const std::size_t index : events->tokens) {
    if (index >= input.position) break;
    const auto* token = std::get_if<trace::TokenGenerated>(&input.trace->event(index).payload);
    if (token != nullptr) texts.push_back(QString::fromStdString(token->shown));
  }
  return texts;
}

/// Columns, and rows where those are blocks.
void layOut(AttentionModel& model, const ViewInput& input, const trace::RequestState& request,
            const AttentionOptions& options) {
  const std::int32_t blockSize = model.blockSize;
  std::vector<std::int32_t> blocks(request.segments.size(), 0);
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    const auto tokens = static_cast<std::int32_t>(request.segments[s].tokens.size());
    blocks[s] = (tokens + blockSize - 1) / blockSize;
  }
  for (const auto& [place, block] : request.blocks) {
    if (place.segment < blocks.size()) {
      blocks[place.segment] = std::max(blocks[place.segment], place.virtualIndex + 1);
    }
  }
  std::size_t total = 0;
  for (const std::int32_t count : blocks) total += static_cast<std::size_t>(count);
  const std::size_t most = std::max<std::size_t>(options.mostBlocks, 1);
  model.blocksPerCell = static_cast<std::int32_t>(std::max<std::size_t>(1, (total + most - 1) / most));

  const std::vector<SegmentName> names = segmentNames(input, request.run, request.segments);
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    AttentionSegment segment;
    segment.segment = static_cast<std::uint32_t>(s);
    segment.name = names[s].name;
    segment.hue = names[s].hue;
    segment.node = request.segments[s].node;
    segment.id = input.nodeOf(request.run, segment.node);
    segment.blocks = blocks[s];
    segment.firstColumn = model.columns;
    if (model.tokenColumns) {
      segment.texts = tokenTexts(input, request, model.request, s);
      segment.columns = static_cast<std::int32_t>(segment.texts.size());
    } else {
      segment.columns = (blocks[s] + model.blocksPerCell - 1) / model.blocksPerCell;
    }
    model.columns += segment.columns;
    model.segments.push_back(std::move(segment));
  }
}

void addBlockRows(AttentionModel& model) {
  for (AttentionSegment& segment : model.segments) {
    segment.firstRow = static_cast<std::int32_t>(model.rows.size());
    segment.rows = segment.columns;
    for (std::int32_t row = 0; row < segment.rows; ++row) {
      model.rows.push_back({.segment = segment.segment, .block = row * model.blocksPerCell, .text = {}});
    }
  }
}

void addTokenRows(AttentionModel& model, const ViewInput& input, const trace::RequestState& request,
                  std::uint32_t shown) {
  for (AttentionSegment& segment : model.segments) {
    segment.firstRow = static_cast<std::int32_t>(model.rows.size());
    if (segment.segment != shown) continue;
    std::int32_t local = 0;
    for (QString& text : tokenTexts(input, request, model.request, shown)) {
      model.rows.push_back(
          {.segment = shown, .block = local / model.blockSize, .token = local, .text = std::move(text)});
      ++local;
    }
    segment.rows = static_cast<std::int32_t>(model.rows.size()) - segment.firstRow;
  }
}

void fillStates(AttentionModel& model, const trace::RequestState& request) {
  const std::int32_t span = model.columnSpan();
  model.states.assign(model.rows.size() * static_cast<std::size_t>(model.columns), CellState::Blank);
  for (std::size_t r = 0; r < model.rows.size(); ++r) {
    const AttentionRow& row = model.rows[r];
    const CellState seen = row.source == RowSource::None ? CellState::Missing : CellState::Measured;
    for (const AttentionSegment& key : model.segments) {
      if (key.segment > row.segment) break;
      for (std::int32_t c = 0; c < key.columns; ++c) {
        CellState& state = model.states[model.at(static_cast<std::int32_t>(r), key.firstColumn + c)];
        if (key.segment == row.segment) {
          const std::int32_t last = model.tokenColumns ? row.token : row.block * model.blockSize;
          if (c * span <= last) state = seen;
        } else {
          const std::int32_t end = std::min((c + 1) * span, key.blocks * model.blockSize);
          state = sees(request.segments, row.segment, key.segment, end) ? seen : CellState::Forbidden;
        }
      }
    }
  }
}

/// Adds the recorded rows of this request, then those of the requests that stored what it reuses.
void fillMass(AttentionModel& model, const ViewInput& input, const trace::Progress& progress,
              const trace::RequestState& request, const AttentionOptions& options, const RecordedRows& own) {
  AttentionSums sums(model.rows.size(), static_cast<std::size_t>(model.columns));
  std::map<RequestId, RecordedRows> others;
  std::set<std::int32_t> layers(own.layers().begin(), own.layers().end());
  std::set<RunId> earlier;
  model.heads = own.heads();
  model.tokenSegments = own.tokenSegments();

  // A cell of several blocks takes the rows of all of them.
  const auto blocksOf = [&](const AttentionRow& row) {
    const std::int32_t blocks = model.segments[row.segment].blocks;
    return row.token >= 0 ? row.block + 1 : std::min(row.block + model.blocksPerCell, blocks);
  };
  const auto columnOf = [&](std::uint32_t segment, std::int64_t token) -> std::int32_t {
    if (segment >= model.segments.size()) return -1;
    const AttentionSegment& key = model.segments[segment];
    const std::int64_t column = token / model.columnSpan();
    return column < key.columns ? key.firstColumn + static_cast<std::int32_t>(column) : -1;
  };
  const auto isWanted = [&](const AttentionRow& row, const trace::AttentionMass& mass) {
    if (row.token >= 0 && mass.row != row.token) return false;
    if (model.tokenColumns && mass.keySpan != 1) return false;
    return !options.layer || mass.layer == *options.layer;
  };
  const std::vector<StoredBlock> stored = storedBlocks(input, progress, request);

  for (std::size_t r = 0; r < model.rows.size(); ++r) {
    AttentionRow& row = model.rows[r];
    for (std::int32_t block = row.block; block < blocksOf(row); ++block) {
      const trace::BlockPlace place{row.segment, block};
      bool found = false;
      for (const std::size_t index : own.at(place)) {
        const auto& mass = std::get<trace::AttentionMass>(input.trace->event(index).payload);
        if (!isWanted(row, mass)) continue;
        found |= sums.add(r, mass, mass.keySegments, options.head, columnOf);
      }
      if (found) {
        row.source = RowSource::Computed;
        row.run = model.run;
        row.request = model.request;
        continue;
      }
      const auto source =
          std::lower_bound(stored.begin(), stored.end(), place,
                           [](const StoredBlock& a, const trace::BlockPlace& b) { return a.place < b; });
      if (source == stored.end() || source->place != place) continue;
      const RecordedRows& rows = others.try_emplace(source->request, input, source->request).first->second;
      layers.insert(rows.layers().begin(), rows.layers().end());
      model.heads = std::max(model.heads, rows.heads());
      // What a reused block sees is the same list of segments under other numbers: places in it correspond.
      std::vector<std::uint32_t> keys = request.segments[row.segment].sees;
      keys.push_back(row.segment);
      for (const std::size_t index : rows.at(source->storedAt)) {
        const auto& mass = std::get<trace::AttentionMass>(input.trace->event(index).payload);
        if (!isWanted(row, mass)) continue;
        found |= sums.add(r, mass, keys, options.head, columnOf);
      }
      if (!found || row.source == RowSource::Computed) continue;
      row.source = RowSource::Earlier;
      row.run = source->run;
      row.request = source->request;
      if (source->run == model.run) {
        model.earlierHere = true;
      } else {
        earlier.insert(source->run);
      }
    }
  }
  model.layers.assign(layers.begin(), layers.end());
  model.earlierRuns.assign(earlier.begin(), earlier.end());
  model.mass = sums.take();
}

}  // namespace

AttentionModel attentionModel(const ViewInput& input, const AttentionOptions& options) {
  AttentionModel model;
  const RequestId shown = input.shownRequest();
  const trace::Replay& replay = input.state();
  const trace::Progress& progress = replay.progress();
  const auto found = progress.requests.find(shown);
  if (found == progress.requests.end() || found->second.segments.empty()) return model;
  const trace::RequestState& request = found->second;
  model.request = shown;
  model.run = request.run;
  model.blockSize = std::max(1, replay.pool().blockSize());
  const auto run = progress.runs.find(request.run);
  if (run != progress.runs.end()) model.leftOut = run->second.attentionLeftOut;
  const RecordedRows own(input, shown);
  const bool tokens = options.tokensOf && *options.tokensOf < request.segments.size();
  model.tokenColumns = tokens && own.hasSingleKeys(*options.tokensOf);

  layOut(model, input, request, options);
  if (tokens) {
    addTokenRows(model, input, request, *options.tokensOf);
  } else {
    addBlockRows(model);
  }
  fillMass(model, input, progress, request, options, own);
  fillStates(model, request);
  for (std::size_t r = 0; r < model.rows.size(); ++r) {
    const std::size_t first = model.at(static_cast<std::int32_t>(r), 0);
    std::int32_t measured = 0;
    float highest = 0;
    for (std::size_t i = first; i < first + static_cast<std::size_t>(model.columns); ++i) {
      if (model.states[i] == CellState::Measured) {
        ++measured;
        highest = std::max(highest, model.mass[i]);
      } else {
        model.mass[i] = 0;
      }
    }
    if (measured > 1) model.highest = std::max(model.highest, highest);
    model.singles |= measured == 1;
  }
  model.recorded = std::any_of(model.rows.begin(), model.rows.end(),
                               [](const AttentionRow& row) { return row.source != RowSource::None; });
  return model;
}

const AttentionSegment* AttentionModel::segmentOfColumn(std::int32_t column) const {
  for (const AttentionSegment& segment : segments) {
    if (column >= segment.firstColumn && column < segment.firstColumn + segment.columns) return &segment;
  }
  return nullptr;
}

std::int32_t AttentionModel::blockOfColumn(std::int32_t column) const {
  const AttentionSegment* segment = segmentOfColumn(column);
  if (segment == nullptr) return 0;
  const std::int32_t place = column - segment->firstColumn;
  return tokenColumns ? place / blockSize : place * blocksPerCell;
}

std::int32_t AttentionModel::tokenOfColumn(std::int32_t column) const {
  const AttentionSegment* segment = segmentOfColumn(column);
  return segment == nullptr || !tokenColumns ? -1 : column - segment->firstColumn;
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

QString attentionReadout(const AttentionModel& model, const AttentionOptions& options, std::int32_t row,
                         std::int32_t column) {
  const AttentionSegment* key = model.segmentOfColumn(column);
  if (key == nullptr || row < 0 || static_cast<std::size_t>(row) >= model.rows.size()) return {};
  const AttentionRow& query = model.rows[static_cast<std::size_t>(row)];
  const auto blocks = [&model](std::int32_t first, std::int32_t most) {
    const std::int32_t last = std::min(first + model.blocksPerCell, most) - 1;
    return last > first ? tr("blocks %1–%2").arg(first).arg(last) : tr("block %1").arg(first);
  };
  const AttentionSegment& own = model.segments[query.segment];
  const auto tokenName = [](const QString& segment, std::int32_t token, const QString& text) {
    return tr("%1 token %2 “%3”").arg(segment).arg(token).arg(text.trimmed());
  };
  const QString from = query.token >= 0 ? tokenName(own.name, query.token, query.text)
                                        : tr("%1 %2").arg(own.name, blocks(query.block, own.blocks));
  const std::int32_t keyToken = model.tokenOfColumn(column);
  const QString to = keyToken >= 0
                         ? tokenName(key->name, keyToken, key->texts[static_cast<std::size_t>(keyToken)])
                         : tr("%1 %2").arg(key->name, blocks(model.blockOfColumn(column), key->blocks));
  const QString pair = tr("%1 → %2: ").arg(from, to);
  switch (model.states[model.at(row, column)]) {
    case CellState::Blank:
      return pair + tr("not there yet, it comes later");
    case CellState::Forbidden:
      return pair + tr("not visible: the tree keeps them apart");
    case CellState::Missing:
      return pair +
             (model.leftOut ? tr("not recorded (%1)").arg(leftOutText(*model.leftOut)) : tr("not recorded"));
    case CellState::Measured:
      break;
  }
  const QString layer = options.layer ? tr("layer %1").arg(*options.layer) : tr("mean of layers");
  const QString head = options.head ? tr("head %1").arg(*options.head) : tr("mean of heads");
  QString text = pair + QString::number(static_cast<double>(model.mass[model.at(row, column)]), 'f', 2) +
                 tr(", %1, %2").arg(layer, head);
  if (query.source == RowSource::Earlier) {
    text += query.run == model.run ? tr(", recorded for request %1, reused here").arg(query.request)
                                   : tr(", recorded in run %1, reused here").arg(query.run);
  }
  return text;
}

QString leftOutText(const trace::AttentionLeftOut& leftOut) {
  constexpr double kMebibyte = 1 << 20;
  const QString limit = QString::number(static_cast<double>(leftOut.limit) / kMebibyte, 'g', 6);
  return leftOut.leftOut == 1
             ? tr("1 record of attention left out: limit of %1 MiB a run").arg(limit)
             : tr("%1 records of attention left out: limit of %2 MiB a run").arg(leftOut.leftOut).arg(limit);
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
      const QString word = measured                        ? tr("measured")
                           : state == CellState::Forbidden ? tr("not visible")
                                                           : tr("not recorded");
      text += csvLine({model.segments[row.segment].name, QString::number(row.block),
                       row.token < 0 ? QString() : QString::number(row.token),
                       model.segmentOfColumn(column)->name, QString::number(model.blockOfColumn(column)),
                       model.tokenColumns ? QString::number(model.tokenOfColumn(column)) : QString(), word,
                       measured ? csvNumber(static_cast<double>(model.mass[cell])) : QString(),
                       measured ? QString::number(row.run) : QString()});
    }
  }
  return text;
}

}  // namespace spanscope::ui
