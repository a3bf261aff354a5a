// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/prompt_by_part.h"

#include "ui/session/answer_shares.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

bool isOneToOne(const trace::PromptParts& parts) {
  std::set<std::uint32_t> segments;
  std::set<std::uint32_t> seen;
  for (const trace::PartRange& range : parts.visible()) {
    if (!segments.insert(range.segment).second || !seen.insert(range.part).second) return false;
  }
  return true;
}

/// Turns the keys of an event about a row of the last segment into keys of the parts.
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
    std::vector<std::size_t> keys;  // indices in a head's values, in the order of the parts
    for (std::uint32_t segment = 0; segment <= own; ++segment) {
      const std::size_t before = keys.size();
      for (const trace::PartRange& range : m_prompt.places.ranges[segment]) addKeys(mass, range, keys);
      if (segment == own) addReply(mass, keys);
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
  void addReply(const trace::AttentionMass& mass, std::vector<std::size_t>& keys) const {
    trace::PartRange reply{
        .part = 0, .segment = m_prompt.places.lastSegment, .begin = m_prompt.places.prompt, .end = 0};
    if (!mass.keyBlocks.empty()) reply.end = mass.keyBlocks.back();
    addKeys(mass, reply, keys);
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
