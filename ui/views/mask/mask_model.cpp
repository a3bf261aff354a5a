// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/mask/mask_model.h"

#include "engine/layout/span_table.h"
#include "engine/policy/choice.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

/// The last event of a kind about a request, up to the input's position; nullptr: none.
template <class Payload>
const Payload* lastOf(const ViewInput& input, RequestId request) {
  const RequestEvents* events = input.trace->request(request);
  const Payload* last = nullptr;
  if (events == nullptr) return last;
  for (const std::size_t index : events->of<Payload>()) {
    if (index >= input.position) break;
    if (const auto* payload = std::get_if<Payload>(&input.trace->event(index).payload)) last = payload;
  }
  return last;
}

class MaskMaker {
 public:
  MaskMaker(const ViewInput& input, RequestId id, const trace::RequestState& request)
      : m_input(input),
        m_request(request),
        m_segments(request.segments),
        m_again(lastOf<trace::TokensRecomputed>(input, id)),
        m_mask(m_segments, m_again),
        m_blocks(requestBlocks(*input.trace, input.state(), id)) {
    m_model.request = id;
    m_model.run = request.run;
    m_model.blockSize = m_blocks.blockSize;
  }

  MaskModel make() {
    layOut();
    nameParts();
    noteComputed();
    for (const MaskSegment& segment : m_model.segments) addBands(segment);
    count();
    addNotes();
    return std::move(m_model);
  }

 private:
  void layOut() {
    const std::vector<GeneratedToken> answer =
        generatedTokens(*m_input.trace, m_model.request, m_input.position);
    for (std::uint32_t i = 0; i < m_segments.size(); ++i) {
      const trace::SegmentInfo& info = m_segments[i];
      const bool isLast = i + 1 == m_segments.size();
      if (info.hidden) continue;
      const std::int32_t first = m_model.tokens;
      const auto length = static_cast<std::int32_t>(info.tokens.size());
      for (std::int32_t local = info.visibleBegin; local < length; ++local)
        addToken(local, info.visibleBegin,
                 static_cast<std::size_t>(local) < info.texts.size()
                     ? info.texts[static_cast<std::size_t>(local)]
                     : std::string());
      if (isLast) {
        m_model.prompt = m_model.tokens;
        for (std::size_t t = 0; t < answer.size(); ++t)
          addToken(length + static_cast<std::int32_t>(t), info.visibleBegin, answer[t].token->shown);
      }
      if (m_model.tokens > first)
        m_model.segments.push_back({.segment = i,
                                    .firstLocal = info.visibleBegin,
                                    .base = info.base,
                                    .node = info.node,
                                    .range = {first, m_model.tokens}});
    }
  }

  void addToken(std::int32_t local, std::int32_t firstLocal, const std::string& text) {
    if (local == firstLocal || local % m_model.blockSize == 0) m_model.edges.push_back(m_model.tokens);
    m_model.texts.push_back(shownToken(text));
    ++m_model.tokens;
  }

  void nameParts() {
    const RequestParts reported = requestParts(m_input, m_model.request);
    const auto add = [&](const QString& name, std::size_t hue, MaskRange range) {
      if (range.count() <= 0) return;
      const bool goesOn = !m_model.parts.empty() && m_model.parts.back().name == name &&
                          m_model.parts.back().hue == hue && m_model.parts.back().range.end == range.begin;
      if (goesOn) {
        m_model.parts.back().range.end = range.end;
      } else {
        m_model.parts.push_back({.name = name, .hue = hue, .range = range});
      }
    };
    for (const MaskSegment& segment : m_model.segments) {
      for (const trace::PartRange& range : reported.parts.visible()) {
        if (range.segment != segment.segment) continue;
        const PartName& own = reported.names[range.part];
        const std::int32_t shift = segment.range.begin - segment.firstLocal;
        add(own.name, own.hue, {range.begin + shift, std::min(range.end + shift, segment.range.end)});
      }
    }
    const std::size_t hue = m_model.parts.empty() ? 0 : m_model.parts.back().hue;
    if (m_model.tokens > m_model.prompt)
      m_model.parts.push_back({.name = tr("answer"), .hue = hue, .range = {m_model.prompt, m_model.tokens}});
  }

  /// Notes the rows that forward passes have computed so far, by segment.
  void noteComputed() {
    m_computed.resize(m_segments.size());
    const RequestEvents* events = m_input.trace->request(m_model.request);
    if (events == nullptr) return;
    const std::vector<std::size_t>& passes = events->of<trace::BatchComputed>();
    // A source that reports no forward passes reports tokens. Each token was sampled from a computed row.
    m_isReported = !passes.empty() || m_request.generatedTokens == 0;
    for (const std::size_t index : passes) {
      if (index >= m_input.position) break;
      const auto* pass = std::get_if<trace::BatchComputed>(&m_input.trace->event(index).payload);
      if (pass == nullptr) continue;
      for (const trace::BatchEntry& entry : pass->entries) {
        if (entry.request != m_model.request || entry.segment >= m_computed.size()) continue;
        std::vector<MaskRange>& ranges = m_computed[entry.segment];
        const std::int32_t end = entry.begin + entry.count;
        if (!ranges.empty() && ranges.back().end == entry.begin) {
          ranges.back().end = end;
        } else {
          ranges.push_back({entry.begin, end});
        }
      }
    }
  }

  bool isComputed(std::uint32_t segment, std::int32_t local) const {
    if (!m_isReported) {
      const auto prompt = static_cast<std::int64_t>(m_segments[segment].tokens.size());
      return local < prompt + m_request.generatedTokens - 1 && !isFound(segment, local);
    }
    const std::vector<MaskRange>& ranges = m_computed[segment];
    return std::any_of(ranges.begin(), ranges.end(),
                       [local](const MaskRange& range) { return range.holds(local); });
  }

  bool isFound(std::uint32_t segment, std::int32_t local) const {
    const auto& blocks = m_blocks.segments[segment].blocks;
    const auto index = static_cast<std::size_t>(local / m_model.blockSize);
    return index < blocks.size() && local % m_model.blockSize < blocks[index].found;
  }

  /// The state of a row that is in no copy.
  BlockRole ownState(std::uint32_t segment, std::int32_t local) const {
    if (isComputed(segment, local)) return BlockRole::Computed;
    if (!isFound(segment, local)) return BlockRole::Free;
    const auto index = static_cast<std::size_t>(local / m_model.blockSize);
    return m_blocks.segments[segment].blocks[index].foundRole;
  }

  BlockRole stateOf(const trace::TokenPlace& row) const {
    const std::optional<std::uint32_t> stored = m_mask.storedIn(row);
    // All rows of a copy are in the forward pass that chooses among them.
    if (stored && isComputed(row.segment, row.local)) return ownState(*stored, row.local);
    return ownState(row.segment, row.local);
  }

  std::vector<MaskRange> columnsOf(const std::vector<std::uint32_t>& segments) const {
    std::vector<MaskRange> ranges;
    for (const MaskSegment& segment : m_model.segments) {
      if (std::find(segments.begin(), segments.end(), segment.segment) == segments.end()) continue;
      if (!ranges.empty() && ranges.back().end == segment.range.begin) {
        ranges.back().end = segment.range.end;
      } else {
        ranges.push_back(segment.range);
      }
    }
    return ranges;
  }

  void addBands(const MaskSegment& segment) {
    const std::vector<std::uint32_t>* sees = nullptr;
    for (std::int32_t row = segment.range.begin; row < segment.range.end; ++row) {
      const trace::TokenPlace place{segment.segment, segment.firstLocal + row - segment.range.begin};
      const std::vector<std::uint32_t>& seen = m_mask.segmentsSeenBy(place);
      const BlockRole state = stateOf(place);
      const bool goesOn = sees == &seen && m_model.bands.back().state == state;
      if (goesOn) {
        m_model.bands.back().rows.end = row + 1;
        continue;
      }
      sees = &seen;
      m_model.bands.push_back(
          {.rows = {row, row + 1}, .state = state, .sees = columnsOf(seen), .ownBegin = segment.range.begin});
    }
  }

  void count() {
    for (const MaskBand& band : m_model.bands) {
      const std::int64_t rows = band.rows.count();
      if (band.state == BlockRole::Free) {
        m_model.waiting += band.rows.count();
        continue;
      }
      (band.state == BlockRole::Computed ? m_model.computed : m_model.reused) += band.rows.count();
      std::int64_t before = 0;
      for (const MaskRange& range : band.sees) before += range.count();
      const auto triangle = [&](std::int64_t first) { return rows * first + rows * (rows + 1) / 2; };
      m_model.seen += rows * before + triangle(band.rows.begin - band.ownBegin);
      m_model.full += triangle(band.rows.begin);
    }
  }

  void addNotes() {
    const trace::Progress& progress = m_input.state().progress();
    const auto windowed = std::count_if(progress.windows.begin(), progress.windows.end(),
                                        [](std::int32_t window) { return window > 0; });
    if (windowed > 0)
      m_model.notes.push_back(tr("%1 of %2 layers attend only to the last %3 positions")
                                  .arg(windowed)
                                  .arg(progress.windows.size())
                                  .arg(*std::max_element(progress.windows.begin(), progress.windows.end())));
    if (const auto* team = lastOf<trace::TeamFormed>(m_input, m_model.request))
      m_model.notes.push_back(team->requests.size() == 2
                                  ? tr("The answer also attends to the answer of another step")
                                  : tr("The answer also attends to the answers of %1 other steps")
                                        .arg(team->requests.size() - 1));
    const auto run = progress.runs.find(m_request.run);
    if (run == progress.runs.end()) return;
    const std::optional<policy::Choice> choice = policy::findChoice(run->second.policy);
    // The policy's values, not the prompt, decide whether rows of an answer attend to fewer blocks.
    const layout::SpanTable some{.segments = {layout::Segment{}}};
    if (choice && choice->planRows(some, false).answer != nullptr)
      m_model.notes.push_back(
          tr("Rows of the answer attend only to some of these blocks, chosen for each layer and head: %1")
              .arg(QString::fromStdString(run->second.policy)));
  }

  const ViewInput& m_input;
  const trace::RequestState& m_request;
  const std::vector<trace::SegmentInfo>& m_segments;
  const trace::TokensRecomputed* m_again;
  trace::WhoSees m_mask;
  RequestBlocks m_blocks;
  bool m_isReported = true;  ///< which rows were computed
  std::vector<std::vector<MaskRange>> m_computed;
  MaskModel m_model;
};

template <class List>
auto* rangeAt(List& list, std::int32_t token) {
  const auto after =
      std::upper_bound(list.begin(), list.end(), token,
                       [](std::int32_t wanted, const auto& each) { return wanted < each.range.begin; });
  using Item = std::remove_reference_t<decltype(*list.begin())>;
  if (after == list.begin()) return static_cast<Item*>(nullptr);
  Item& found = *std::prev(after);
  return found.range.holds(token) ? &found : static_cast<Item*>(nullptr);
}

const trace::RequestState* requestOf(const ViewInput& input, RequestId request) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  return found == requests.end() ? nullptr : &found->second;
}

/// Whether two nodes are children of the same plus.
bool areChildrenOfOnePlus(const NodePath& one, const NodePath& other) {
  const auto parent = [](const NodePath& path) {
    const std::size_t slash = path.rfind('/');
    return slash == NodePath::npos ? NodePath() : path.substr(0, slash);
  };
  return one != other && !parent(one).empty() && parent(one) == parent(other);
}

/// "token 3 (“Lisbon”) of document 2", or "tokens 0 – 15 of document 2". Tokens of a section count from 0.
QString stretchName(const MaskModel& model, const MaskRange& range) {
  const MaskPart* first = model.partAt(range.begin);
  const MaskPart* last = model.partAt(range.end - 1);
  if (first == nullptr || last == nullptr) return {};
  const std::int32_t from = range.begin - first->range.begin;
  const std::int32_t to = range.end - 1 - last->range.begin;
  if (first != last)
    return tr("token %1 of %2 to token %3 of %4").arg(from).arg(first->name).arg(to).arg(last->name);
  if (range.count() > 1) return tr("tokens %1 – %2 of %3").arg(from).arg(to).arg(first->name);
  return tr("token %1, “%2”, of %3")
      .arg(from)
      .arg(model.texts[static_cast<std::size_t>(range.begin)], first->name);
}

QString capitalised(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

/// "system", "document 1 and document 2", "system, document 1 … document 7 (8 sections)".
QString listed(const QStringList& names) {
  if (names.size() <= 2) return names.join(tr(" and "));
  if (names.size() == 3) return tr("%1, %2 and %3").arg(names[0], names[1], names[2]);
  return tr("%1, %2 … %3 (%4 sections)").arg(names[0], names[1], names.back()).arg(names.size());
}

/// Why a row does not attend to a key, as the end of a sentence.
QString reasonText(trace::Sight sight, bool ofOnePlus) {
  switch (sight) {
    case trace::Sight::Beside:
      return ofOnePlus
                 ? tr(/*id:both-children-plus*/ "both are children of one plus, each computed on its own")
                 : tr("each section has its own scope and was computed without the other section");
    case trace::Sight::Before:
      return tr(/*id:stands-before-part*/
                "the section of the row is computed without earlier text, so that the section can be reused "
                "at any position");
    case trace::Sight::HiddenCopy:
      return tr("the row was computed after a hidden copy of these tokens");
    case trace::Sight::Later:
      return tr("it comes later");
    case trace::Sight::Hidden:
      return tr("no other token attends to these tokens");
    case trace::Sight::Own:
    case trace::Sight::Seen:
      break;
  }
  return {};
}

QString stateText(const MaskModel& model, const MaskRange& rows) {
  const MaskBand* band = model.bandAt(rows.begin);
  if (band == nullptr || model.bandAt(rows.end - 1)->state != band->state) return {};
  switch (band->state) {
    case BlockRole::Hit:
    case BlockRole::Relocated:
      return band->state == BlockRole::Hit
                 ? tr("Not computed in this run: the keys and values were cached.")
                 : tr(/*id:not-computed-moved*/
                      "Not computed in this run: the keys and values were cached at another position.");
    case BlockRole::Computed:
      return tr(/*id:computed-run*/ "Computed in this run.");
    case BlockRole::Evicted:
    case BlockRole::Free:
      break;
  }
  return rows.begin >= model.prompt ? tr("Sampled, but not computed by a forward pass yet.")
                                    : tr("Not computed yet.");
}

/// How a row attends to the columns of one section.
struct PartSight {
  QString name;
  trace::Sight sight = trace::Sight::Own;
  bool ofOnePlus = false;
};

class MaskWords {
 public:
  MaskWords(const ViewInput& input, const MaskModel& model)
      : m_model(model),
        m_request(*requestOf(input, model.request)),
        m_mask(m_request.segments, lastOf<trace::TokensRecomputed>(input, model.request)) {}

  PartSight sight(std::int32_t row, std::int32_t column) const {
    const TokenRef from = m_model.placeOf(row);
    const TokenRef to = m_model.placeOf(column);
    return {.name = m_model.partAt(column)->name,
            .sight = m_mask.sight({from.segment, from.local}, {to.segment, to.local}),
            .ofOnePlus = areChildrenOfOnePlus(m_request.segments[from.segment].node,
                                              m_request.segments[to.segment].node)};
  }

  /// The sections before a row, with one entry each. The first token of a section decides its entry.
  std::vector<PartSight> partsBefore(std::int32_t row) const {
    std::vector<PartSight> parts;
    for (const MaskPart& part : m_model.parts) {
      if (part.range.begin > row) break;
      parts.push_back(sight(row, part.range.begin));
    }
    return parts;
  }

 private:
  const MaskModel& m_model;
  const trace::RequestState& m_request;
  trace::WhoSees m_mask;
};

}  // namespace

const MaskPart* MaskModel::partAt(std::int32_t token) const {
  return rangeAt(parts, token);
}

const MaskSegment* MaskModel::segmentAt(std::int32_t token) const {
  return rangeAt(segments, token);
}

const MaskBand* MaskModel::bandAt(std::int32_t row) const {
  const auto after =
      std::upper_bound(bands.begin(), bands.end(), row,
                       [](std::int32_t wanted, const MaskBand& band) { return wanted < band.rows.begin; });
  return after == bands.begin() || !std::prev(after)->rows.holds(row) ? nullptr : &*std::prev(after);
}

TokenRef MaskModel::placeOf(std::int32_t token) const {
  const MaskSegment& segment = *segmentAt(token);
  return {.request = request,
          .segment = segment.segment,
          .local = segment.firstLocal + token - segment.range.begin};
}

MaskRange MaskModel::blockOf(std::int32_t token) const {
  const auto after = std::upper_bound(edges.begin(), edges.end(), token);
  return {after == edges.begin() ? 0 : *std::prev(after), after == edges.end() ? tokens : *after};
}

bool MaskModel::sees(std::int32_t row, std::int32_t column) const {
  const MaskBand* band = bandAt(row);
  if (band == nullptr || column > row) return false;
  return column >= band->ownBegin || std::any_of(band->sees.begin(), band->sees.end(),
                                                 [column](const MaskRange& r) { return r.holds(column); });
}

MaskModel maskModel(const ViewInput& input) {
  const RequestId id = input.shownRequest();
  const trace::RequestState* request = requestOf(input, id);
  if (request == nullptr || request->segments.empty()) return {};
  return MaskMaker(input, id, *request).make();
}

std::optional<MaskRange> selectedRows(const MaskModel& model, const Selection& selection) {
  std::optional<MaskRange> rows;
  const auto take = [&](std::uint32_t segment, std::int32_t begin, std::int32_t end) {
    for (const MaskSegment& own : model.segments) {
      if (own.segment != segment) continue;
      const std::int32_t shift = own.range.begin - own.firstLocal;
      const MaskRange range{std::max(begin + shift, own.range.begin), std::min(end + shift, own.range.end)};
      if (range.count() > 0) rows = range;
    }
  };
  if (selection.token && selection.token->request == model.request) {
    take(selection.token->segment, selection.token->local, selection.token->local + 1);
  } else if (selection.block && selection.block->request == model.request) {
    const std::int32_t begin = selection.block->virtualIndex * model.blockSize;
    take(selection.block->segment, begin, begin + model.blockSize);
  }
  return rows;
}

QString rowText(const ViewInput& input, const MaskModel& model, const MaskRange& rows) {
  const MaskBand* band = model.bandAt(rows.begin);
  const MaskSegment* segment = model.segmentAt(rows.begin);
  if (band == nullptr || segment == nullptr || rows.count() <= 0) return {};
  const MaskWords words(input, model);
  const std::int32_t row = rows.end - 1;
  QStringList seen;
  std::map<std::pair<trace::Sight, bool>, QStringList> unseen;
  std::int64_t count = row + 1 - model.bandAt(row)->ownBegin;
  for (const MaskRange& range : model.bandAt(row)->sees) count += range.count();
  for (const PartSight& part : words.partsBefore(row)) {
    QStringList& names = trace::isSeen(part.sight) ? seen : unseen[{part.sight, part.ofOnePlus}];
    if (names.isEmpty() || names.back() != part.name) names << part.name;
  }
  const MaskPart* own = model.partAt(row);
  if (!seen.isEmpty() && own != nullptr && seen.back() == own->name) seen.removeLast();
  QStringList lines;
  const QString name = stretchName(model, rows);
  const QString looks = rows.count() == 1 ? capitalised(name) : tr("The last of %1").arg(name);
  QString sentence =
      count == 1 && seen.isEmpty()
          ? tr("%1 attends only to itself.").arg(looks)
          : tr(/*id:row-attends*/ "%1 attends to %2 tokens: %3.")
                .arg(looks)
                .arg(count)
                .arg(seen.isEmpty() ? tr("%1 up to this token").arg(own->name)
                                    : tr("%1, and %2 up to this token").arg(listed(seen), own->name));
  for (const auto& [why, names] : unseen)
    sentence +=
        QLatin1Char(' ') +
        tr("The row does not attend to %1: %2.").arg(listed(names), reasonText(why.first, why.second));
  const QString state = stateText(model, rows);
  return state.isEmpty() ? sentence : sentence + QLatin1Char(' ') + state;
}

QString cellText(const ViewInput& input, const MaskModel& model, const MaskRange& rows,
                 const MaskRange& columns) {
  if (model.bandAt(rows.begin) == nullptr || model.partAt(columns.begin) == nullptr) return {};
  const MaskWords words(input, model);
  // For a block on the diagonal, the text is about the last row and the first key.
  const PartSight sight = words.sight(rows.end - 1, columns.begin);
  const QString row = capitalised(stretchName(model, rows));
  const QString key = stretchName(model, columns);
  const bool isOne = rows.count() == 1;
  if (trace::isSeen(sight.sight)) {
    if (isOne && rows == columns) return tr("%1 attends to itself.").arg(row);
    const QString far =
        isOne ? tr("%1 attends to the earlier tokens of %2.") : tr("%1 attend to the earlier tokens of %2.");
    const QString all = isOne ? tr("%1 attends to %2.") : tr("%1 attend to %2.");
    return (columns.end > rows.begin + 1 ? far : all).arg(row, key);
  }
  QString text = (isOne ? tr("%1 does not attend to %2: %3.") : tr("%1 do not attend to %2: %3."))
                     .arg(row, key, reasonText(sight.sight, sight.ofOnePlus));
  if (sight.sight != trace::Sight::Later)
    text += QLatin1Char(' ') + tr("A full prefill does not mask this pair.");
  return text;
}

QString maskCsv(const ViewInput& input, const MaskModel& model) {
  if (model.tokens == 0) return {};
  QString csv =
      csvLine({QStringLiteral("row"), QStringLiteral("part"), QStringLiteral("segment"),
               QStringLiteral("local"), QStringLiteral("position"), QStringLiteral("text"),
               QStringLiteral("state"), QStringLiteral("keys seen"), QStringLiteral("keys in a full prefill"),
               QStringLiteral("columns seen"), QStringLiteral("masked sections")});
  const MaskWords words(input, model);
  for (const MaskBand& band : model.bands) {
    for (std::int32_t row = band.rows.begin; row < band.rows.end; ++row) {
      std::vector<MaskRange> seen = band.sees;
      if (!seen.empty() && seen.back().end == band.ownBegin) {
        seen.back().end = row + 1;
      } else {
        seen.push_back({band.ownBegin, row + 1});
      }
      QStringList ranges;
      std::int32_t count = 0;
      for (const MaskRange& range : seen) {
        ranges << QStringLiteral("%1-%2").arg(range.begin).arg(range.end - 1);
        count += range.count();
      }
      QStringList unseen;
      for (const PartSight& part : words.partsBefore(row)) {
        if (!trace::isSeen(part.sight) && !unseen.contains(part.name)) unseen << part.name;
      }
      const TokenRef place = model.placeOf(row);
      const QString state = band.state == BlockRole::Free ? tr("not computed yet") : Theme::name(band.state);
      csv += csvLine({QString::number(row), model.partAt(row)->name, QString::number(place.segment),
                      QString::number(place.local), QString::number(model.segmentAt(row)->base + place.local),
                      model.texts[static_cast<std::size_t>(row)], state, QString::number(count),
                      QString::number(row + 1), ranges.join(QLatin1Char(' ')),
                      unseen.join(QStringLiteral("; "))});
    }
  }
  return csv;
}

}  // namespace spanscope::ui
