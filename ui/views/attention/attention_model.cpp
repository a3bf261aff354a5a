// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_model.h"

#include "ui/session/answer_shares.h"
#include "ui/views/common/segment_names.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

namespace spanscope::ui {
namespace {

/// The shown texts of a segment's tokens, generated tokens included.
std::vector<QString> tokenTexts(const ViewInput& input, const trace::RequestState& request, RequestId id,
                                std::size_t segment) {
  const trace::SegmentInfo& info = request.segments[segment];
  std::vector<QString> texts;
  for (std::size_t i = 0; i < info.tokens.size(); ++i)
    texts.push_back(i < info.texts.size() ? QString::fromStdString(info.texts[i]) : QString());
  const RequestEvents* events = input.trace->request(id);
  if (events == nullptr || segment + 1 != request.segments.size()) return texts;
  for (const std::size_t index : events->of<trace::TokenGenerated>()) {
    if (index >= input.position) break;
    const auto* token = std::get_if<trace::TokenGenerated>(&input.trace->event(index).payload);
    if (token != nullptr) texts.push_back(QString::fromStdString(token->shown));
  }
  return texts;
}

class ModelMaker {
 public:
  ModelMaker(const ViewInput& input, const trace::RequestState& request, RequestId id,
             const AttentionOptions& options)
      : m_input(input),
        m_request(request),
        m_options(options),
        m_own(input, id),
        m_stored(storedBlocks(input, input.state().progress(), request)) {
    begin(id);
    m_parts = requestParts(input, id);
    for (SegmentName& name : segmentNames(input, id))
      m_names.push_back({.name = std::move(name.name), .hue = name.hue, .isHidden = name.hidden});
  }
  /// `prompt` must outlive the maker.
  ModelMaker(const ViewInput& input, const PromptByPart& prompt, RequestId id,
             const AttentionOptions& options)
      : m_input(input), m_request(prompt.request), m_options(options), m_own(rowsByPart(input, id, prompt)) {
    begin(id);
    m_model.byPart = prompt.places;
    for (const PartName& name : prompt.names)
      m_names.push_back({.name = name.name, .hue = name.hue, .isHidden = false});
  }

  AttentionModel make() {
    const bool tokens = m_options.rowSet == AttentionRowSet::All && m_options.tokensOf &&
                        *m_options.tokensOf < m_request.segments.size();
    m_model.tokenColumns = tokens && m_own.hasSingleKeys(*m_options.tokensOf, choice());
    layOut();
    if (m_options.rowSet == AttentionRowSet::Answer) {
      addAnswerRows();
    } else if (tokens) {
      addTokenRows(*m_options.tokensOf);
    } else {
      addBlockRows();
    }
    addParts();
    fillMass();
    measure();
    return std::move(m_model);
  }

 private:
  void begin(RequestId id) {
    m_model.request = id;
    m_model.run = m_request.run;
    m_model.rowSet = m_options.rowSet;
    m_model.blockSize = std::max(1, m_input.state().pool().blockSize());
    const auto& runs = m_input.state().progress().runs;
    const auto run = runs.find(m_request.run);
    if (run != runs.end()) m_model.leftOut = run->second.attentionLeftOut;
    m_shares = answerShares(m_input, id);
  }

  AttentionChoice choice() const { return {.layer = m_options.layer, .head = m_options.head}; }
  std::uint32_t lastSegment() const { return static_cast<std::uint32_t>(m_model.segments.size()) - 1; }
  std::int32_t promptOfLast() const {
    return static_cast<std::int32_t>(m_request.segments[lastSegment()].tokens.size());
  }

  void layOut() {
    const std::vector<std::int32_t> blocks = blockCounts(m_request, m_model.blockSize);
    std::size_t total = 0;
    for (const std::int32_t count : blocks) total += static_cast<std::size_t>(count);
    const std::size_t most = std::max<std::size_t>(m_options.mostBlocks, 1);
    m_model.blocksPerCell = static_cast<std::int32_t>(std::max<std::size_t>(1, (total + most - 1) / most));

    for (std::size_t s = 0; s < blocks.size(); ++s) {
      AttentionSegment segment;
      segment.segment = static_cast<std::uint32_t>(s);
      segment.name = m_names[s].name;
      segment.hue = m_names[s].hue;
      segment.node = m_request.segments[s].node;
      segment.id = m_input.nodeOf(m_request.run, segment.node);
      segment.blocks = blocks[s];
      segment.tokens = static_cast<std::int32_t>(m_request.segments[s].tokens.size());
      if (s + 1 == blocks.size()) segment.tokens += static_cast<std::int32_t>(m_request.generatedTokens);
      segment.isSource = isSource(segment.segment);
      segment.firstColumn = m_model.columns;
      segment.grain = grainOf(segment.segment);
      if (m_names[s].isHidden) {
        segment.columns = 0;
      } else if (segment.grain == AttentionGrain::Tokens) {
        segment.texts = tokenTexts(m_input, m_request, m_model.request, s);
        segment.columns = static_cast<std::int32_t>(segment.texts.size());
      } else if (segment.grain == AttentionGrain::Segments) {
        segment.columns = 1;
      } else {
        segment.columns = (blocks[s] + m_model.blocksPerCell - 1) / m_model.blocksPerCell;
      }
      segment.answerColumns = std::max(0, segment.columns - promptColumns(segment));
      m_model.columns += segment.columns;
      m_segmentOf.insert(m_segmentOf.end(), static_cast<std::size_t>(segment.columns), segment.segment);
      m_model.segments.push_back(std::move(segment));
    }
  }

  /// The number of columns with a token of the prompt. Columns of the answer come after them.
  std::int32_t promptColumns(const AttentionSegment& segment) const {
    const auto tokens = static_cast<std::int32_t>(m_request.segments[segment.segment].tokens.size());
    if (segment.grain == AttentionGrain::Segments) return segment.columns;
    const std::int32_t width =
        segment.grain == AttentionGrain::Tokens ? 1 : m_model.blocksPerCell * m_model.blockSize;
    return (tokens + width - 1) / width;
  }

  /// Whether the first section of a segment is a source.
  bool isSource(std::uint32_t segment) const {
    if (m_model.byPart) {
      const auto& parts = m_model.byPart->segmentOf;
      const auto part = std::find(parts.begin(), parts.end(), std::optional(segment));
      return m_shares->isSource(static_cast<std::size_t>(part - parts.begin()));
    }
    for (const trace::PartRange& range : m_shares->parts.visible()) {
      if (range.segment == segment) return m_shares->isSource(range.part);
    }
    return false;
  }

  AttentionGrain grainOf(std::uint32_t segment) const {
    if (m_model.tokenColumns) return AttentionGrain::Tokens;
    const auto opened = m_options.opened.find(segment);
    if (m_model.byPart && (opened == m_options.opened.end() || opened->second == AttentionGrain::Blocks))
      return AttentionGrain::Segments;
    return opened == m_options.opened.end() ? m_options.grain : opened->second;
  }

  void addBlockRows() {
    for (AttentionSegment& segment : m_model.segments) {
      segment.firstRow = static_cast<std::int32_t>(m_model.rows.size());
      if (segment.columns == 0) continue;
      const std::int32_t step =
          segment.grain == AttentionGrain::Segments ? std::max(1, segment.blocks) : m_model.blocksPerCell;
      for (std::int32_t block = 0; block < std::max(1, segment.blocks); block += step) {
        m_model.rows.push_back({.segment = segment.segment,
                                .block = block,
                                .blocks = std::min(step, segment.blocks - block),
                                .text = {}});
      }
      segment.rows = static_cast<std::int32_t>(m_model.rows.size()) - segment.firstRow;
    }
  }

  void addTokenRows(std::uint32_t shown) {
    for (AttentionSegment& segment : m_model.segments) {
      segment.firstRow = static_cast<std::int32_t>(m_model.rows.size());
      if (segment.segment != shown) continue;
      std::int32_t local = 0;
      for (QString& text : tokenTexts(m_input, m_request, m_model.request, shown)) {
        m_model.rows.push_back(
            {.segment = shown, .block = local / m_model.blockSize, .token = local, .text = std::move(text)});
        ++local;
      }
      segment.rows = static_cast<std::int32_t>(m_model.rows.size()) - segment.firstRow;
    }
  }

  /// Adds a row for each token of the answer: the row from which the token was sampled. This row is the row
  /// of the token before.
  void addAnswerRows() {
    for (AttentionSegment& segment : m_model.segments) segment.firstRow = 0;
    const std::uint32_t own = lastSegment();
    const std::vector<QString> texts = tokenTexts(m_input, m_request, m_model.request, own);
    const std::int32_t prompt = promptOfLast();
    const std::int32_t step = std::max(1, m_options.answersPerRow);
    const auto end = static_cast<std::int32_t>(texts.size());
    for (std::int32_t token = prompt; token < end; token += step) {
      AttentionRow row{.segment = own,
                       .block = std::max(0, token - 1) / m_model.blockSize,
                       .token = token,
                       .answer = token - prompt,
                       .answers = std::min(step, end - token),
                       .text = {}};
      for (std::int32_t i = token; i < token + row.answers; ++i)
        row.text += texts[static_cast<std::size_t>(i)];
      m_model.rows.push_back(std::move(row));
    }
    m_model.segments[own].rows = static_cast<std::int32_t>(m_model.rows.size());
  }

  /// The column at which a token begins, in columns of its segment.
  double columnsTo(const AttentionSegment& segment, std::int32_t token) const {
    if (segment.grain == AttentionGrain::Segments) return token > 0 ? 1 : 0;
    if (segment.grain == AttentionGrain::Tokens) return token;
    return double(token) / (double(m_model.blocksPerCell) * m_model.blockSize);
  }
  /// The same in rows.
  double rowsTo(const AttentionSegment& segment, std::int32_t token) const {
    if (m_options.rowSet == AttentionRowSet::All && segment.rows > 0 &&
        m_model.rows[static_cast<std::size_t>(segment.firstRow)].token >= 0)
      return token;
    if (segment.grain == AttentionGrain::Segments) return token > 0 ? 1 : 0;
    return double(token) / (double(m_model.blocksPerCell) * m_model.blockSize);
  }

  /// If every visible segment is one section, or segments are sections, a range is a whole segment.
  void addParts() {
    for (const AttentionSegment& segment : m_model.segments) {
      std::vector<trace::PartRange> ranges;
      for (const trace::PartRange& range : m_parts.parts.visible()) {
        if (range.segment == segment.segment) ranges.push_back(range);
      }
      const bool isWhole = m_model.byPart || ranges.size() < 2 || segment.grain == AttentionGrain::Segments;
      if (segment.columns == 0 && segment.rows == 0) continue;
      const auto prompt = static_cast<double>(segment.columns - segment.answerColumns);
      const std::int32_t length =
          static_cast<std::int32_t>(m_request.segments[segment.segment].tokens.size());
      if (isWhole) {
        AttentionPart part{.segment = segment.segment,
                           .name = segment.name,
                           .hue = segment.hue,
                           .id = segment.id,
                           .place = m_model.placeOf(segment.segment),
                           .firstColumn = double(segment.firstColumn),
                           .columns = prompt,
                           .firstRow = double(segment.firstRow),
                           .rows = double(segment.rows)};
        if (ranges.size() == 1) {
          const PartName& name = m_parts.names[ranges.front().part];
          part.name = name.name;
          part.hue = name.hue;
          part.id = name.id;
        }
        append(std::move(part), ranges.size() == 1 ? std::optional(ranges.front().part) : std::nullopt);
        continue;
      }
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        const trace::PartRange& range = ranges[i];
        const bool isLast = i + 1 == ranges.size();
        // Hidden prefixes belong to the first section, and the answer's rows belong to the last section.
        const std::int32_t begin = i == 0 ? 0 : range.begin;
        const double columns = isLast ? prompt : std::min(prompt, columnsTo(segment, range.end));
        double rows = segment.rows;
        if (m_options.rowSet == AttentionRowSet::Answer) {
          rows = isLast ? rows : 0;
        } else if (!isLast) {
          rows = std::min(rows, rowsTo(segment, range.end));
        }
        const double firstRow =
            m_options.rowSet == AttentionRowSet::Answer ? 0 : std::min(rows, rowsTo(segment, begin));
        const double firstColumn = std::min(prompt, columnsTo(segment, begin));
        const PartName& name = m_parts.names[range.part];
        append({.segment = segment.segment,
                .name = name.name,
                .hue = name.hue,
                .id = name.id,
                .place = {.request = m_model.request,
                          .segment = segment.segment,
                          .local = std::min(range.begin, std::max(0, length - 1))},
                .firstColumn = segment.firstColumn + firstColumn,
                .columns = columns - firstColumn,
                .firstRow = segment.firstRow + firstRow,
                .rows = rows - firstRow},
               range.part);
      }
    }
  }

  /// Joins consecutive ranges of the same section.
  void append(AttentionPart part, std::optional<std::uint32_t> of) {
    constexpr double kSlack = 1e-9;
    const bool goesOn = of && m_lastPart == of && !m_model.parts.empty();
    m_lastPart = of;
    if (goesOn) {
      AttentionPart& last = m_model.parts.back();
      if (std::abs(last.firstColumn + last.columns - part.firstColumn) < kSlack) {
        last.columns += part.columns;
        if (last.rows <= 0) last.firstRow = part.firstRow;
        last.rows += part.rows;
        return;
      }
    }
    m_model.parts.push_back(std::move(part));
  }

  std::int32_t columnOf(std::uint32_t segment, std::int64_t token) const {
    if (segment >= m_model.segments.size()) return -1;
    const AttentionSegment& key = m_model.segments[segment];
    std::int64_t column = 0;
    if (key.grain == AttentionGrain::Tokens) column = token;
    if (key.grain == AttentionGrain::Blocks)
      column = token / (std::int64_t{m_model.blocksPerCell} * m_model.blockSize);
    return column < key.columns ? key.firstColumn + static_cast<std::int32_t>(column) : -1;
  }

  /// Adds the attention that one request recorded for a query block. Columns of whole segments get the values
  /// by segment, other columns the values by block. `wantedRow`: the local token of the only row to add; −1:
  /// all rows. `answer`: the answer token whose row counts for values by segment; −1: all rows count.
  bool addBlock(AttentionSums& sums, std::size_t r, const RecordedRows& rows, const trace::BlockPlace& place,
                std::int32_t wantedRow, std::int32_t answer, const std::vector<std::uint32_t>* keys) {
    const auto column = [this](std::uint32_t segment, std::int64_t token) {
      return columnOf(segment, token);
    };
    bool found = false;
    std::set<std::uint32_t> done;
    for (const trace::SegmentAttention* mass : rows.segmentsAt(place)) {
      if (answer >= 0 ? mass->index != answer : wantedRow >= 0 && mass->row != wantedRow) continue;
      const std::vector<std::uint32_t>& seen = keys != nullptr ? *keys : mass->keySegments;
      const bool added = sums.add(
          r, *mass, seen, choice(), m_options.withFirst, column,
          [&](std::uint32_t segment) { return m_model.segments[segment].grain == AttentionGrain::Segments; });
      if (!added) continue;
      found = true;
      for (const std::uint32_t segment : seen) {
        if (m_model.segments[segment].grain == AttentionGrain::Segments) done.insert(segment);
      }
    }
    const std::vector<const RecordedMass*> masses = massesOf(rows, place, wantedRow);
    for (const RecordedMass* recorded : masses) {
      const std::vector<std::uint32_t>& seen = keys != nullptr ? *keys : recorded->mass->keySegments;
      const auto takes = [&](std::uint32_t segment) {
        const bool fine =
            m_model.segments[segment].grain != AttentionGrain::Tokens || recorded->mass->keySpan == 1;
        return fine && !done.contains(segment);
      };
      if (!sums.add(r, *recorded, seen, choice(), column, takes)) continue;
      found = true;
      if (recorded->replayed == nullptr) continue;
      m_model.recomputed = true;
      std::copy_if(seen.begin(), seen.end(), std::back_inserter(m_model.rows[r].again), takes);
    }
    return found;
  }

  /// The masses to add up for the chosen layer and head: the recorded mean if nothing is chosen, else the
  /// layers. The result never has both, and never a layer twice.
  std::vector<const RecordedMass*> massesOf(const RecordedRows& rows, const trace::BlockPlace& place,
                                            std::int32_t wantedRow) const {
    std::vector<const RecordedMass*> means;
    std::vector<const RecordedMass*> layers;
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> last;  // by row and layer: index in `layers`
    for (const RecordedMass& recorded : rows.at(place)) {
      const trace::AttentionMass& mass = *recorded.mass;
      if ((wantedRow >= 0 && mass.row != wantedRow) || !recorded.isAbout(choice())) continue;
      if (mass.layer < 0) {
        means.push_back(&recorded);
        continue;
      }
      const auto [at, isNew] = last.try_emplace({mass.row, mass.layer}, layers.size());
      if (mass.row >= 0 && !isNew) {
        layers[at->second] = &recorded;
      } else {
        layers.push_back(&recorded);
      }
    }
    return means.empty() ? layers : means;
  }

  /// Adds the recorded rows of this request, then the rows of the requests that stored the blocks it reuses.
  void fillMass() {
    AttentionSums sums(m_model.rows.size(), static_cast<std::size_t>(m_model.columns),
                       m_model.segments.size());
    std::map<RequestId, RecordedRows> others;
    std::set<std::int32_t> layers(m_own.layers().begin(), m_own.layers().end());
    std::set<RunId> earlier;
    m_model.heads = m_own.heads();
    m_model.tokenSegments = m_own.tokenSegments();
    m_model.singleKeys = m_own.hasSingleKeys(lastSegment(), choice());
    const RecordedRows::RowsKnown known = m_own.rowsKnown(lastSegment(), promptOfLast() - 1, choice());
    m_model.answer = {.tokens = static_cast<std::int32_t>(m_request.generatedTokens),
                      .withBlocks = known.blocks,
                      .withKeys = known.tokens,
                      .replayed = known.replayed == nullptr ? std::nullopt : std::optional(*known.replayed)};
    if (m_input.replay.origin == TraceOrigin::Session) offerEveryLayer(layers);
    m_model.promptRows = m_own.hasPromptRows(lastSegment(), promptOfLast() - 1);
    for (std::size_t r = 0; r < m_model.rows.size(); ++r) {
      AttentionRow& row = m_model.rows[r];
      if (row.answer >= 0) {
        for (std::int32_t i = 0; i < row.answers; ++i) addAnswer(sums, r, row.answer + i, row.token + i);
        continue;
      }
      for (std::int32_t block = row.block; block < row.block + row.blocks; ++block) {
        const trace::BlockPlace place{row.segment, block};
        if (addBlock(sums, r, m_own, place, row.token, -1, nullptr)) {
          takeOwn(row);
          continue;
        }
        const auto source =
            std::lower_bound(m_stored.begin(), m_stored.end(), place,
                             [](const StoredBlock& a, const trace::BlockPlace& b) { return a.place < b; });
        if (source == m_stored.end() || source->place != place) continue;
        const RecordedRows& rows =
            others.try_emplace(source->request, m_input, source->request).first->second;
        layers.insert(rows.layers().begin(), rows.layers().end());
        m_model.heads = std::max(m_model.heads, rows.heads());
        // A reused block attends to the same segments under other numbers, so the two lists correspond by
        // index.
        std::vector<std::uint32_t> keys = m_request.segments[row.segment].sees;
        keys.push_back(row.segment);
        if (!addBlock(sums, r, rows, source->storedAt, row.token, -1, &keys)) continue;
        m_model.promptRows = true;
        if (row.source == RowSource::Computed) continue;
        row.source = RowSource::Earlier;
        row.run = source->run;
        row.request = source->request;
        if (source->run == m_model.run) {
          m_model.earlierHere = true;
        } else {
          earlier.insert(source->run);
        }
      }
    }
    m_model.layers.assign(layers.begin(), layers.end());
    m_model.earlierRuns.assign(earlier.begin(), earlier.end());
    m_model.mass = sums.take(m_segmentOf);
    fillStates(sums);
  }

  /// Offers every layer, because a layer that was not recorded can be recomputed.
  void offerEveryLayer(std::set<std::int32_t>& layers) {
    const trace::Progress& progress = m_input.state().progress();
    for (std::int32_t layer = 0; layer < progress.layers; ++layer) layers.insert(layer);
    m_model.heads = std::max(m_model.heads, progress.heads);
  }

  void takeOwn(AttentionRow& row) const {
    row.source = RowSource::Computed;
    row.run = m_model.run;
    row.request = m_model.request;
  }

  /// Adds the row from which an answer token was sampled, which is the row of the token before. If nothing
  /// else was recorded for this row, adds the means of the token's own event.
  void addAnswer(AttentionSums& sums, std::size_t r, std::int32_t answer, std::int32_t token) {
    AttentionRow& row = m_model.rows[r];
    const trace::BlockPlace place{row.segment, std::max(0, token - 1) / m_model.blockSize};
    if (addBlock(sums, r, m_own, place, token - 1, answer, nullptr)) {
      takeOwn(row);
      return;
    }
    if (m_options.layer || m_options.head) return;
    for (const TokenShares& recorded : m_shares->tokens) {
      if (recorded.index != answer) continue;
      const bool found = sums.add(
          r, bySegment(recorded.mass),
          [this](std::uint32_t segment, std::int64_t at) { return columnOf(segment, at); },
          [this](std::uint32_t segment) {
            return m_model.segments[segment].grain == AttentionGrain::Segments &&
                   m_model.segments[segment].columns > 0;
          });
      if (found) takeOwn(row);
    }
  }

  /// The means of a token's own event, by segment of the model. The event has them by section.
  std::vector<float> bySegment(const std::vector<float>& byPart) const {
    std::vector<float> joined(m_model.segments.size(), 0.0F);
    for (std::uint32_t part = 0; part < byPart.size(); ++part) {
      std::optional<std::uint32_t> segment;
      if (m_model.byPart) segment = m_model.byPart->segmentOf[part];
      for (const trace::PartRange& range : m_shares->parts.visible()) {
        if (!m_model.byPart && !segment && range.part == part) segment = range.segment;
      }
      if (segment) joined[*segment] += byPart[part];
    }
    return joined;
  }

  /// Whether the rows of segment `row` attend to any token of segment `key` before `end`.
  bool sees(std::uint32_t row, std::uint32_t key, std::int32_t end) const {
    const auto& list = m_request.segments[row].sees;
    return std::find(list.begin(), list.end(), key) != list.end() &&
           end > m_request.segments[key].visibleBegin;
  }

  /// Finds the window of the shown layers, as the session reported it.
  void findWindow() {
    const std::vector<std::int32_t>& windows = m_input.state().progress().windows;
    if (windows.empty()) return;
    AttentionWindow& found = m_model.window;
    const auto add = [&](std::int32_t layer) {
      if (layer < 0 || static_cast<std::size_t>(layer) >= windows.size()) return;
      const std::int32_t tokens = windows[static_cast<std::size_t>(layer)];
      ++found.layers;
      if (tokens == 0) return;
      ++found.windowed;
      found.widest = std::max(found.widest, tokens);
    };
    if (m_options.layer)
      add(*m_options.layer);
    else
      for (const std::int32_t layer : m_model.layers) add(layer);
    if (found.layers > 0 && found.windowed == found.layers) found.tokens = found.widest;
  }

  /// Whether a whole column is before the keys that the first token of a row attends to.
  bool isOutside(const AttentionRow& row, const AttentionSegment& key, std::int32_t column) const {
    if (m_model.window.tokens == 0) return false;
    const std::int32_t local = row.answer >= 0  ? row.token - 1
                               : row.token >= 0 ? row.token
                                                : row.block * m_model.blockSize;
    const trace::SegmentInfo& seen = m_request.segments[key.segment];
    // The answer continues the last segment.
    std::int32_t end = endToken(key, column);
    if (key.segment != lastSegment()) end = std::min(end, static_cast<std::int32_t>(seen.tokens.size()));
    const std::int64_t last = seen.base + end - 1;
    return m_request.segments[row.segment].base + local - last >= m_model.window.tokens;
  }

  void fillStates(const AttentionSums& sums) {
    findWindow();
    m_model.states.assign(m_model.rows.size() * static_cast<std::size_t>(m_model.columns), CellState::Blank);
    for (std::size_t r = 0; r < m_model.rows.size(); ++r) {
      const AttentionRow& row = m_model.rows[r];
      for (const AttentionSegment& key : m_model.segments) {
        if (key.segment > row.segment) break;
        const CellState seen = sums.isKnown(r, key.segment) ? CellState::Measured : CellState::Missing;
        for (std::int32_t c = 0; c < key.columns; ++c) {
          CellState& state = m_model.states[m_model.at(static_cast<std::int32_t>(r), key.firstColumn + c)];
          if (key.segment == row.segment) {
            if (firstToken(key, c) <= lastSeen(key, row)) state = seen;
          } else {
            state = sees(row.segment, key.segment, endToken(key, c)) ? seen : CellState::Forbidden;
          }
          const bool isSeen = state == CellState::Measured || state == CellState::Missing;
          if (isSeen && isOutside(row, key, c)) state = CellState::Outside;
        }
      }
    }
  }
  std::int32_t firstToken(const AttentionSegment& key, std::int32_t column) const {
    if (key.grain == AttentionGrain::Segments) return 0;
    return key.grain == AttentionGrain::Tokens ? column : column * m_model.blocksPerCell * m_model.blockSize;
  }
  std::int32_t endToken(const AttentionSegment& key, std::int32_t column) const {
    const std::int32_t all = key.blocks * m_model.blockSize;
    if (key.grain == AttentionGrain::Segments) return all;
    return key.grain == AttentionGrain::Tokens
               ? column + 1
               : std::min((column + 1) * m_model.blocksPerCell * m_model.blockSize, all);
  }
  /// The last local token of its own segment that a row attends to. If the row is a block, the block counts
  /// as a whole.
  std::int32_t lastSeen(const AttentionSegment& key, const AttentionRow& row) const {
    if (row.answer >= 0) return row.token + row.answers - 2;
    return key.grain == AttentionGrain::Tokens && row.token >= 0 ? row.token : row.block * m_model.blockSize;
  }

  void measure() {
    const bool answer = m_model.rowSet == AttentionRowSet::Answer;
    bool first = false;
    for (const auto& recorded : m_shares->tokens) first = first || !recorded.first.empty();
    m_model.withoutFirst = !m_options.withFirst && first;
    for (const AttentionSegment& segment : m_model.segments) {
      if (segment.columns == 0) continue;
      const bool leftOut = m_model.withoutFirst && segment.grain == AttentionGrain::Segments;
      m_model.sinkColumn = leftOut || segment.segment == lastSegment() ? -1 : segment.firstColumn;
      break;
    }
    float lowest = 0;
    for (std::size_t r = 0; r < m_model.rows.size(); ++r) {
      std::int32_t measured = 0;
      float highest = 0;
      for (std::int32_t column = 0; column < m_model.columns; ++column) {
        const std::size_t i = m_model.at(static_cast<std::int32_t>(r), column);
        if (m_model.states[i] != CellState::Measured) {
          m_model.mass[i] = 0;
          continue;
        }
        ++measured;
        const bool aside = answer && (m_segmentOf[static_cast<std::size_t>(column)] == lastSegment() ||
                                      column == m_model.sinkColumn);
        if (aside) continue;
        highest = std::max(highest, m_model.mass[i]);
        if (m_model.mass[i] > 0) lowest = lowest > 0 ? std::min(lowest, m_model.mass[i]) : m_model.mass[i];
      }
      if (measured > 1) m_model.highest = std::max(m_model.highest, highest);
      m_model.singles |= measured == 1;
    }
    m_model.lowest = lowest;
    m_model.recorded = std::any_of(m_model.rows.begin(), m_model.rows.end(),
                                   [](const AttentionRow& row) { return row.source != RowSource::None; });
  }

  const ViewInput& m_input;
  const trace::RequestState& m_request;
  const AttentionOptions& m_options;
  RecordedRows m_own;
  std::vector<StoredBlock> m_stored;
  std::shared_ptr<const AnswerShares> m_shares;
  struct Name {
    QString name;
    std::size_t hue = 0;
    bool isHidden = false;
  };
  std::vector<Name> m_names;  ///< by segment
  RequestParts m_parts;       ///< sections of the prompt; empty if segments are sections
  std::optional<std::uint32_t>
      m_lastPart;  ///< section of the last range; none: the range has several sections
  std::vector<std::uint32_t> m_segmentOf;  ///< segment of each column
  AttentionModel m_model;
};

}  // namespace

AttentionModel attentionModel(const ViewInput& input, const AttentionOptions& options) {
  const RequestId shown = input.shownRequest();
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(shown);
  if (found == requests.end() || found->second.segments.empty()) return {};
  if (options.rowSet == AttentionRowSet::Answer && !options.bySegment) {
    if (const auto prompt = promptByPart(input, shown))
      return ModelMaker(input, *prompt, shown, options).make();
  }
  return ModelMaker(input, found->second, shown, options).make();
}

}  // namespace spanscope::ui
