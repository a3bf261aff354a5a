// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_rows.h"

#include "ui/session/answer_shares.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <variant>

namespace spanscope::ui {

using trace::AttentionMass;
using trace::SegmentAttention;

namespace {

bool isFinished(const ViewInput& input, RequestId request) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  return found != requests.end() && found->second.outcome.has_value();
}

}  // namespace

RecordedRows::RecordedRows(const ViewInput& input, RequestId request) {
  const RequestEvents* events = input.trace->request(request);
  if (events == nullptr) return;
  const auto payload = [&](std::size_t index) -> const trace::Payload& {
    return input.trace->event(index).payload;
  };
  for (const std::size_t index : events->of<trace::AttentionMass>()) {
    if (index >= input.position) break;
    if (const auto* mass = std::get_if<AttentionMass>(&payload(index)))
      add({.mass = mass, .replayed = nullptr});
  }
  if (isFinished(input, request)) {
    const trace::AttentionReplayed* replayed = nullptr;
    for (const std::size_t index : events->of<trace::AttentionReplayed>()) {
      if (const auto* begun = std::get_if<trace::AttentionReplayed>(&payload(index))) replayed = begun;
      const auto* row = std::get_if<trace::ReplayedMass>(&payload(index));
      if (row != nullptr && replayed != nullptr) add({.mass = &row->mass, .replayed = replayed});
    }
  }
  for (const std::size_t index : events->of<trace::SegmentAttention>()) {
    if (index >= input.position) break;
    if (const auto* mass = std::get_if<SegmentAttention>(&payload(index))) add(*mass);
  }
  listWhatIsThere();
}

RecordedRows::RecordedRows(RowsByPart rows) : m_byPart(std::move(rows)) {
  for (std::size_t i = 0; i < m_byPart.keys.size(); ++i)
    add({.mass = &m_byPart.keys[i], .replayed = m_byPart.keysReplayed[i]});
  for (const SegmentAttention& mass : m_byPart.segments) add(mass);
  listWhatIsThere();
}

void RecordedRows::add(const SegmentAttention& mass) {
  m_segments[{mass.segment, mass.virtualIndex}].push_back(&mass);
  m_layerSet.insert(mass.layers.begin(), mass.layers.end());
  m_heads = std::max(m_heads, mass.heads);
}

void RecordedRows::listWhatIsThere() {
  m_layers.assign(m_layerSet.begin(), m_layerSet.end());
  m_tokenSegments.assign(m_tokenSet.begin(), m_tokenSet.end());
}

void RecordedRows::add(const RecordedMass& recorded) {
  const AttentionMass& mass = *recorded.mass;
  m_masses[{mass.segment, mass.virtualIndex}].push_back(recorded);
  if (mass.layer >= 0) {
    m_layerSet.insert(mass.layer);
    m_heads = std::max(m_heads, std::max(mass.heads, recorded.head() + 1));
  }
  if (mass.row < 0) return;
  m_tokenSet.insert(mass.segment);
}

bool RecordedMass::isAbout(const AttentionChoice& choice) const {
  if (mass->layer < 0) return !choice.layer && !choice.head;
  if (choice.layer ? mass->layer != *choice.layer : replayed != nullptr) return false;
  if (head() >= 0) return choice.head == head();
  return !choice.head || *choice.head < mass->heads;
}

bool RecordedRows::hasSingleKeys(std::uint32_t segment, const AttentionChoice& choice) const {
  return rowsKnown(segment, 0, choice).tokens > 0;
}

RecordedRows::RowsKnown RecordedRows::rowsKnown(std::uint32_t segment, std::int32_t firstRow,
                                                const AttentionChoice& choice) const {
  RowsKnown known;
  std::set<std::int32_t> blocks;
  std::set<std::int32_t> tokens;
  for (auto at = m_masses.lower_bound({segment, 0}); at != m_masses.end() && at->first.segment == segment;
       ++at) {
    for (const RecordedMass& recorded : at->second) {
      if (recorded.mass->row < firstRow || !recorded.isAbout(choice)) continue;
      blocks.insert(recorded.mass->row);
      if (recorded.mass->keySpan == 1) tokens.insert(recorded.mass->row);
      if (recorded.replayed != nullptr) known.replayed = recorded.replayed;
    }
  }
  known.blocks = static_cast<std::int32_t>(blocks.size());
  known.tokens = static_cast<std::int32_t>(tokens.size());
  return known;
}

std::span<const RecordedMass> RecordedRows::at(const trace::BlockPlace& place) const {
  const auto found = m_masses.find(place);
  if (found == m_masses.end()) return {};
  return found->second;
}

std::span<const SegmentAttention* const> RecordedRows::segmentsAt(const trace::BlockPlace& place) const {
  const auto found = m_segments.find(place);
  if (found == m_segments.end()) return {};
  return found->second;
}

bool RecordedRows::hasPromptRows(std::uint32_t own, std::int32_t firstAnswerRow) const {
  const auto isPrompt = [&](std::uint32_t segment, std::int32_t row) {
    return segment != own || row < firstAnswerRow;
  };
  for (const auto& [place, masses] : m_masses) {
    for (const RecordedMass& recorded : masses) {
      if (isPrompt(place.segment, recorded.mass->row)) return true;
    }
  }
  return false;
}

AttentionSums::AttentionSums(std::size_t rows, std::size_t columns, std::size_t segments)
    : m_columns(columns),
      m_segments(segments),
      m_sums(rows * columns, 0.0F),
      m_weights(rows * segments, 0.0F) {}

bool AttentionSums::add(std::size_t row, const RecordedMass& recorded, std::span<const std::uint32_t> keys,
                        const AttentionChoice& choice, const ColumnOf& columnOf, const Takes& takes) {
  const AttentionMass& mass = *recorded.mass;
  if (keys.size() != mass.keyBlocks.size() || mass.rows <= 0 || mass.heads <= 0) return false;
  std::optional<std::int32_t> head = choice.head;
  if (head && recorded.head() >= 0) {
    if (*head != recorded.head()) return false;
    head = 0;
  }
  if (head && *head >= mass.heads) return false;
  const auto heads = static_cast<std::size_t>(mass.heads);
  const std::size_t width = mass.mass.size() / heads;
  const std::size_t first = head ? static_cast<std::size_t>(*head) : 0;
  const std::size_t last = head ? first + 1 : heads;
  const auto rows = static_cast<float>(mass.rows);
  const float scale = rows / static_cast<float>(last - first);
  float* sums = m_sums.data() + row * m_columns;
  std::size_t at = 0;
  bool found = false;
  for (std::size_t range = 0; range < keys.size(); ++range) {
    if (!takes(keys[range])) {
      at += static_cast<std::size_t>(mass.keyBlocks[range]);
      continue;
    }
    found = true;
    weight(row, keys[range]) += rows;
    for (std::int32_t stretch = 0; stretch < mass.keyBlocks[range]; ++stretch, ++at) {
      const std::int32_t column = columnOf(keys[range], std::int64_t{stretch} * mass.keySpan);
      if (column < 0) continue;
      float sum = 0;
      for (std::size_t h = first; h < last; ++h) sum += mass.mass[h * width + at];
      sums[column] += scale * sum;
    }
  }
  return found;
}

bool AttentionSums::add(std::size_t row, const SegmentAttention& mass, std::span<const std::uint32_t> keys,
                        const AttentionChoice& choice, bool withFirst, const ColumnOf& columnOf,
                        const Takes& takes) {
  if (keys.size() != mass.keySegments.size() || mass.rows <= 0) return false;
  if (choice.head && *choice.head >= mass.heads) return false;
  float* sums = m_sums.data() + row * m_columns;
  bool found = false;
  for (std::size_t layer = 0; layer < mass.layers.size(); ++layer) {
    if (choice.layer && mass.layers[layer] != *choice.layer) continue;
    for (std::int32_t head = 0; head < mass.heads; ++head) {
      if (choice.head && head != *choice.head) continue;
      const std::size_t from =
          (layer * static_cast<std::size_t>(mass.heads) + static_cast<std::size_t>(head)) * keys.size();
      for (std::size_t key = 0; key < keys.size(); ++key) {
        if (!takes(keys[key])) continue;
        found = true;
        const float all = mass.mass[from + key];
        const float value = withFirst ? all : std::max(0.0F, all - mass.first[from + key]);
        const std::int32_t column = columnOf(keys[key], 0);
        weight(row, keys[key]) += static_cast<float>(mass.rows);
        if (column >= 0) sums[column] += static_cast<float>(mass.rows) * value;
      }
    }
  }
  return found;
}

bool AttentionSums::add(std::size_t row, std::span<const float> bySegment, const ColumnOf& columnOf,
                        const Takes& takes) {
  bool found = false;
  for (std::uint32_t segment = 0; segment < bySegment.size() && segment < m_segments; ++segment) {
    if (!takes(segment)) continue;
    found = true;
    const std::int32_t column = columnOf(segment, 0);
    weight(row, segment) += 1;
    if (column >= 0) m_sums[row * m_columns + static_cast<std::size_t>(column)] += bySegment[segment];
  }
  return found;
}

std::vector<float> AttentionSums::take(std::span<const std::uint32_t> segmentOf) const {
  std::vector<float> mean = m_sums;
  const std::size_t rows = m_columns == 0 ? 0 : m_sums.size() / m_columns;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < m_columns; ++column) {
      const float weight = m_weights[row * m_segments + segmentOf[column]];
      if (weight > 0) mean[row * m_columns + column] /= weight;
    }
  }
  return mean;
}

std::vector<StoredBlock> storedBlocks(const ViewInput& input, const trace::Progress& progress,
                                      const trace::RequestState& request) {
  std::vector<StoredBlock> result;
  std::map<RequestId, std::map<BlockId, std::vector<trace::BlockPlace>>> placesOf;
  for (const auto& [place, block] : request.blocks) {
    if (block.outcome == trace::LookupOutcome::Miss || block.lookup == 0) continue;
    const std::optional<std::size_t> index = input.trace->indexOf(block.lookup);
    if (!index) continue;
    const auto* lookup = std::get_if<trace::BlockLookedUp>(&input.trace->event(*index).payload);
    if (lookup == nullptr) continue;
    const auto source = progress.requests.find(lookup->storedByRequest);
    if (source == progress.requests.end()) continue;
    auto [places, isNew] = placesOf.try_emplace(source->first);
    if (isNew) {
      for (const auto& [at, stored] : source->second.blocks) {
        if (stored.block != kNullBlock) places->second[stored.block].push_back(at);
      }
    }
    const auto found = places->second.find(lookup->block);
    if (found == places->second.end()) continue;
    // The request that stored the block may use it at several places, with the same index in the chain. The
    // block was computed at the first place.
    const auto same =
        std::find_if(found->second.begin(), found->second.end(),
                     [&](const trace::BlockPlace& at) { return at.virtualIndex == lookup->virtualIndex; });
    if (same == found->second.end()) continue;
    result.push_back(
        {.place = place, .run = lookup->storedByRun, .request = lookup->storedByRequest, .storedAt = *same});
  }
  return result;
}

namespace {

bool isOneToOne(const trace::PromptParts& parts) {
  std::set<std::uint32_t> segments;
  std::set<std::uint32_t> seen;
  for (const trace::PartRange& range : parts.visible()) {
    if (!segments.insert(range.segment).second || !seen.insert(range.part).second) return false;
  }
  return true;
}

/// Turns the keys of an event about a row of the last segment into keys of the sections.
class KeyMap {
 public:
  explicit KeyMap(const PromptByPart& prompt) : m_prompt(prompt) {}

  /// Nothing if the event is not about single keys of such a row.
  std::optional<trace::AttentionMass> mapped(const trace::AttentionMass& mass, std::int32_t blockSize) const {
    const std::int32_t row = mass.row;
    if (mass.keySpan != 1 || row < m_prompt.places.prompt - 1 || mass.segment != m_prompt.places.lastSegment)
      return std::nullopt;
    if (mass.keySegments.size() != mass.keyBlocks.size() || mass.heads <= 0) return std::nullopt;
    const auto width =
        static_cast<std::size_t>(std::accumulate(mass.keyBlocks.begin(), mass.keyBlocks.end(), 0));
    if (mass.mass.size() != width * static_cast<std::size_t>(mass.heads)) return std::nullopt;
    trace::AttentionMass result = mass;
    const auto own = static_cast<std::uint32_t>(m_prompt.request.segments.size() - 1);
    const auto prompt = static_cast<std::int32_t>(m_prompt.request.segments[own].tokens.size());
    result.segment = own;
    result.row = prompt + (row - m_prompt.places.prompt);
    result.virtualIndex = result.row / blockSize;
    result.keySegments.clear();
    result.keyBlocks.clear();
    result.mass.clear();
    std::vector<std::size_t> keys;  // indices in a head's values, in the order of the sections
    for (std::uint32_t segment = 0; segment <= own; ++segment) {
      const std::size_t before = keys.size();
      for (const trace::PartRange& range : m_prompt.places.ranges[segment]) addKeys(mass, range, keys);
      if (segment == own) addAnswer(mass, keys);
      if (keys.size() == before) continue;
      result.keySegments.push_back(segment);
      result.keyBlocks.push_back(static_cast<std::int32_t>(keys.size() - before));
    }
    for (std::int32_t head = 0; head < mass.heads; ++head) {
      const auto values =
          mass.mass.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(head) * width);
      for (const std::size_t key : keys) result.mass.push_back(values[static_cast<std::ptrdiff_t>(key)]);
    }
    return result;
  }

 private:
  static void addKeys(const trace::AttentionMass& mass, const trace::PartRange& range,
                      std::vector<std::size_t>& keys) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < mass.keySegments.size(); ++i) {
      const std::int32_t end = std::min(range.end, mass.keyBlocks[i]);
      for (std::int32_t key = range.begin; mass.keySegments[i] == range.segment && key < end; ++key)
        keys.push_back(begin + static_cast<std::size_t>(key));
      begin += static_cast<std::size_t>(mass.keyBlocks[i]);
    }
  }
  void addAnswer(const trace::AttentionMass& mass, std::vector<std::size_t>& keys) const {
    trace::PartRange answer{
        .part = 0, .segment = m_prompt.places.lastSegment, .begin = m_prompt.places.prompt, .end = 0};
    if (!mass.keyBlocks.empty()) answer.end = mass.keyBlocks.back();
    addKeys(mass, answer, keys);
  }

  const PromptByPart& m_prompt;
};

}  // namespace

std::optional<PromptByPart> promptByPart(const ViewInput& input, RequestId request) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end() || found->second.segments.empty()) return std::nullopt;
  const RequestParts parts = requestParts(input, request);
  if (parts.parts.visible().empty() || isOneToOne(parts.parts)) return std::nullopt;
  const std::vector<trace::SegmentInfo>& real = found->second.segments;
  PromptByPart result;
  result.request = found->second;
  result.request.blocks = {};
  result.places.lastSegment = static_cast<std::uint32_t>(real.size() - 1);
  result.places.prompt = static_cast<std::int32_t>(real.back().tokens.size());
  result.places.segmentOf.resize(parts.parts.size());
  std::vector<std::uint32_t> order;
  for (const trace::PartRange& range : parts.parts.visible()) {
    if (std::find(order.begin(), order.end(), range.part) == order.end()) order.push_back(range.part);
  }
  const auto own = std::find(order.begin(), order.end(), *parts.parts.own());
  std::rotate(own, std::next(own), order.end());
  std::vector<trace::SegmentInfo> segments;
  std::int64_t base = 0;
  for (const std::uint32_t part : order) {
    const auto index = static_cast<std::uint32_t>(segments.size());
    result.places.segmentOf[part] = index;
    result.names.push_back(parts.names[part]);
    std::vector<trace::PartRange>& ranges = result.places.ranges.emplace_back();
    trace::SegmentInfo& segment = segments.emplace_back();
    segment.node = parts.parts.info(part).node;
    segment.base = base;
    for (std::uint32_t seen = 0; seen < index; ++seen) segment.sees.push_back(seen);
    for (const trace::PartRange& range : parts.parts.visible()) {
      if (range.part != part) continue;
      ranges.push_back(range);
      const trace::SegmentInfo& from = real[range.segment];
      segment.tokens.insert(segment.tokens.end(), from.tokens.begin() + range.begin,
                            from.tokens.begin() + range.end);
      for (std::int32_t i = range.begin; i < range.end; ++i) {
        const auto text = static_cast<std::size_t>(i);
        segment.texts.push_back(text < from.texts.size() ? from.texts[text] : std::string());
      }
    }
    base += static_cast<std::int64_t>(segment.tokens.size());
  }
  result.request.segments = std::move(segments);
  return result;
}

RowsByPart rowsByPart(const ViewInput& input, RequestId request, const PromptByPart& prompt) {
  RowsByPart rows;
  const RequestEvents* events = input.trace->request(request);
  if (events == nullptr) return rows;
  const std::int32_t blockSize = std::max(1, input.state().pool().blockSize());
  const auto own = static_cast<std::uint32_t>(prompt.request.segments.size() - 1);
  const auto length = static_cast<std::int32_t>(prompt.request.segments[own].tokens.size());
  for (const auto& [index, row] : partRows(input, *events, promptParts(input, request))) {
    trace::SegmentAttention segment{.index = index,
                                    .segment = own,
                                    .virtualIndex = (length + index - 1) / blockSize,
                                    .row = length + index - 1,
                                    .rows = 1,
                                    .keySegments = {},
                                    .layers = row.layers,
                                    .heads = row.heads,
                                    .mass = row.mass,
                                    .first = row.first};
    bool isKnown = true;
    for (const std::uint32_t part : row.keyParts) {
      const auto place = part < prompt.places.segmentOf.size() ? prompt.places.segmentOf[part] : std::nullopt;
      isKnown = isKnown && place;
      segment.keySegments.push_back(place.value_or(0));
    }
    if (isKnown) rows.segments.push_back(std::move(segment));
  }
  const KeyMap keys(prompt);
  const auto take = [&](const trace::AttentionMass& mass, const trace::AttentionReplayed* replayed) {
    if (auto mapped = keys.mapped(mass, blockSize)) {
      rows.keys.push_back(std::move(*mapped));
      rows.keysReplayed.push_back(replayed);
    }
  };
  for (const std::size_t index : events->of<trace::AttentionMass>()) {
    if (index >= input.position) break;
    take(std::get<trace::AttentionMass>(input.trace->event(index).payload), nullptr);
  }
  const trace::AttentionReplayed* replayed = nullptr;
  for (const std::size_t index : events->of<trace::AttentionReplayed>()) {
    const trace::Payload& payload = input.trace->event(index).payload;
    if (const auto* begun = std::get_if<trace::AttentionReplayed>(&payload)) replayed = begun;
    const auto* row = std::get_if<trace::ReplayedMass>(&payload);
    if (row != nullptr && replayed != nullptr && prompt.request.outcome) take(row->mass, replayed);
  }
  return rows;
}

}  // namespace spanscope::ui
