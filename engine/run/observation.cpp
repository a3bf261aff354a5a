// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/observation.h"

#include "engine/trace/memory_bytes.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

namespace spanscope::run {

namespace {

std::vector<std::uint32_t> keySegments(const QueryPlace& place) {
  std::vector<std::uint32_t> segments(place.sees.begin(), place.sees.end());
  segments.push_back(place.segment);
  return segments;
}

std::int32_t rowOf(const ObservedRun& rows, bool singleRow) {
  return singleRow && rows.count == 1 ? rows.begin : -1;
}

std::size_t sum(const std::vector<std::int32_t>& counts) {
  return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0));
}

trace::AttentionMass emptyMass(const QueryPlace& place, const ObservedRun& rows, bool singleRow,
                               const compute::RunMass& mass) {
  trace::AttentionMass event;
  event.segment = place.segment;
  event.virtualIndex = rows.begin / place.blockSize;
  event.row = rowOf(rows, singleRow);
  event.rows = rows.count;
  event.keySegments = keySegments(place);
  event.keySpan = mass.keySpan;
  event.keyBlocks = mass.keyBlocks;
  return event;
}

bool isIn(std::span<const std::int32_t> layers, std::int32_t layer) {
  return std::ranges::find(layers, layer) != layers.end();
}

std::span<const compute::RunMass> runsOf(const model::LayerMass& layer, const ObservedRows& observed) {
  return std::span(layer.runs).subspan(observed.first, observed.number);
}

}  // namespace

trace::AttentionMass massEvent(const QueryPlace& place, const ObservedRows& observed, bool singleRow,
                               std::int32_t heads, const model::LayerMass& mass) {
  const std::span<const compute::RunMass> runs = runsOf(mass, observed);
  trace::AttentionMass event = emptyMass(place, observed.rows, singleRow, runs.front());
  event.layer = mass.layer;
  event.heads = heads;
  event.mass.resize(runs.front().mass.size());
  for (const compute::RunMass& run : runs) {
    std::ranges::transform(event.mass, run.mass, event.mass.begin(), std::plus<>());
  }
  for (float& value : event.mass) value /= static_cast<float>(observed.rows.count);
  return event;
}

trace::AttentionMass meanMass(const QueryPlace& place, const ObservedRows& observed, bool singleRow,
                              std::span<const std::int32_t> layers, std::span<const model::LayerMass> mass) {
  trace::AttentionMass event =
      emptyMass(place, observed.rows, singleRow, runsOf(mass.front(), observed).front());
  event.layer = -1;
  event.heads = 1;
  const std::size_t width = sum(event.keyBlocks);
  std::vector<double> sums(width, 0.0);
  std::size_t rows = 0;  // rows of weights; each row has the sum 1
  for (const model::LayerMass& layer : mass) {
    if (!isIn(layers, layer.layer)) continue;
    for (const compute::RunMass& run : runsOf(layer, observed)) {
      for (std::size_t at = 0; at < run.mass.size(); at += width) {
        for (std::size_t i = 0; i < width; ++i) sums[i] += static_cast<double>(run.mass[at + i]);
      }
    }
    rows +=
        runsOf(layer, observed).front().mass.size() / width * static_cast<std::size_t>(observed.rows.count);
  }
  event.mass.reserve(width);
  for (const double value : sums) {
    event.mass.push_back(static_cast<float>(value / static_cast<double>(std::max<std::size_t>(rows, 1))));
  }
  return event;
}

trace::SegmentAttention segmentAttention(const QueryPlace& place, const ObservedRows& observed,
                                         bool singleRow, std::span<const std::int32_t> layers,
                                         std::span<const model::LayerMass> mass) {
  trace::SegmentAttention event;
  event.index = observed.number == 1 ? observed.rows.answer : -1;
  event.segment = place.segment;
  event.virtualIndex = observed.rows.begin / place.blockSize;
  event.row = rowOf(observed.rows, singleRow);
  event.rows = observed.rows.count;
  event.keySegments = keySegments(place);
  const std::size_t segments = event.keySegments.size();
  const auto count = static_cast<double>(observed.rows.count);
  std::vector<double> sums(segments);
  for (const model::LayerMass& layer : mass) {
    if (!isIn(layers, layer.layer)) continue;
    event.layers.push_back(layer.layer);
    const std::span<const compute::RunMass> runs = runsOf(layer, observed);
    const std::size_t heads = runs.front().first.size() / segments;
    event.heads = static_cast<std::int32_t>(heads);
    for (std::size_t head = 0; head < heads; ++head) {
      std::ranges::fill(sums, 0.0);
      for (const compute::RunMass& run : runs) {
        auto value = run.mass.begin() + static_cast<std::ptrdiff_t>(head * sum(run.keyBlocks));
        for (std::size_t segment = 0; segment < segments; ++segment) {
          for (std::int32_t i = 0; i < run.keyBlocks[segment]; ++i)
            sums[segment] += static_cast<double>(*value++);
        }
      }
      for (const double value : sums) event.mass.push_back(static_cast<float>(value / count));
      for (std::size_t segment = 0; segment < segments; ++segment) {
        double first = 0;
        for (const compute::RunMass& run : runs)
          first += static_cast<double>(run.first[head * segments + segment]);
        event.first.push_back(static_cast<float>(first / count));
      }
    }
  }
  return event;
}

bool seesSeveralParts(const layout::SpanTable& table, std::uint32_t segment) {
  const auto hasSeveral = [&table](std::uint32_t index) {
    const layout::Segment& own = table.segments[index];
    std::int32_t end = 0;
    std::optional<std::uint32_t> first;
    for (const layout::TokenRun& run : own.runs) {
      end += run.count;
      if (end <= own.visibleBegin) continue;
      if (run.part != first.value_or(run.part)) return true;
      first = run.part;
    }
    return false;
  };
  const std::vector<std::uint32_t>& sees = table.segments[segment].sees;
  return hasSeveral(segment) || std::ranges::any_of(sees, hasSeveral);
}

namespace {

/// Keys of one key range that belong to one section.
struct PartKeys {
  std::uint32_t part = 0;
  std::size_t range = 0;
  std::int32_t begin = 0;  ///< local tokens
  std::int32_t end = 0;    ///< index of the last token; the rest of the range belongs to this token
};

/// Returns the visible tokens of all key ranges by section, in prompt order.
std::vector<PartKeys> partKeys(const QueryPlace& place) {
  std::vector<PartKeys> keys;
  const std::vector<std::uint32_t> segments = keySegments(place);
  for (std::size_t range = 0; range < segments.size(); ++range) {
    const layout::Segment& segment = place.table->segments[segments[range]];
    const std::size_t from = keys.size();
    std::int32_t begin = 0;
    for (const layout::TokenRun& run : segment.runs) {
      const std::int32_t end = begin + run.count;
      const bool goesOn = keys.size() > from && keys.back().part == run.part;
      if (goesOn) keys.back().end = end;
      if (!goesOn && end > segment.visibleBegin)
        keys.push_back({.part = run.part, .range = range, .begin = begin, .end = end});
      begin = end;
    }
    if (keys.size() > from) {
      keys[from].begin = std::max(keys[from].begin, segment.visibleBegin);
      // The answer continues the last section.
      keys.back().end = std::numeric_limits<std::int32_t>::max();
    }
  }
  return keys;
}

}  // namespace

trace::PartAttention partAttention(const QueryPlace& place, const ObservedRows& observed,
                                   std::span<const std::int32_t> layers,
                                   std::span<const model::LayerMass> mass) {
  trace::PartAttention event;
  event.index = observed.rows.answer;
  const std::vector<PartKeys> keys = partKeys(place);
  if (keys.empty()) return event;
  const std::uint32_t ownPart = keys.back().part;
  for (const PartKeys& each : keys) {
    if (each.part != ownPart && std::ranges::find(event.keyParts, each.part) == event.keyParts.end())
      event.keyParts.push_back(each.part);
  }
  event.keyParts.push_back(ownPart);
  const std::size_t parts = event.keyParts.size();
  std::vector<std::size_t> placeOf;  // by entry of `keys`: index in keyParts
  for (const PartKeys& each : keys) {
    const auto found = std::ranges::find(event.keyParts, each.part);
    placeOf.push_back(static_cast<std::size_t>(found - event.keyParts.begin()));
  }
  std::vector<double> sums(parts);
  std::vector<float> firsts(parts);
  std::vector<bool> isSeen(parts);
  for (const model::LayerMass& layer : mass) {
    if (!isIn(layers, layer.layer)) continue;
    const compute::RunMass& run = layer.runs[observed.first];
    event.layers.push_back(layer.layer);
    const std::size_t heads = run.first.size() / run.keyBlocks.size();
    event.heads = static_cast<std::int32_t>(heads);
    std::vector<std::size_t> offsets;  // by key range: index of its first key
    std::size_t width = 0;
    for (const std::int32_t count : run.keyBlocks) {
      offsets.push_back(width);
      width += static_cast<std::size_t>(count);
    }
    for (std::size_t head = 0; head < heads; ++head) {
      std::ranges::fill(sums, 0.0);
      std::ranges::fill(firsts, 0.0F);
      std::fill(isSeen.begin(), isSeen.end(), false);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::int32_t end = std::min(keys[i].end, run.keyBlocks[keys[i].range]);
        const float* const values = run.mass.data() + head * width + offsets[keys[i].range];
        for (std::int32_t key = keys[i].begin; key < end; ++key)
          sums[placeOf[i]] += static_cast<double>(values[key]);
        if (!isSeen[placeOf[i]] && keys[i].begin < end) {
          firsts[placeOf[i]] = values[keys[i].begin];
          isSeen[placeOf[i]] = true;
        }
      }
      for (const double sum : sums) event.mass.push_back(static_cast<float>(sum));
      event.first.insert(event.first.end(), firsts.begin(), firsts.end());
    }
  }
  return event;
}

compute::RunMass byBlock(const compute::RunMass& run, std::int32_t blockSize) {
  compute::RunMass joined{
      .run = run.run, .keySpan = blockSize, .keyBlocks = {}, .mass = {}, .first = run.first};
  for (const std::int32_t keys : run.keyBlocks)
    joined.keyBlocks.push_back((keys + blockSize - 1) / blockSize);
  const std::size_t heads = run.keyBlocks.empty() ? 0 : run.first.size() / run.keyBlocks.size();
  joined.mass.reserve(heads * sum(joined.keyBlocks));
  auto value = run.mass.begin();
  for (std::size_t head = 0; head < heads; ++head) {
    for (const std::int32_t keys : run.keyBlocks) {
      for (std::int32_t begin = 0; begin < keys; begin += blockSize) {
        const std::int32_t count = std::min(blockSize, keys - begin);
        double total = 0;
        for (std::int32_t i = 0; i < count; ++i) total += static_cast<double>(*value++);
        joined.mass.push_back(static_cast<float>(total));
      }
    }
  }
  return joined;
}

std::vector<float> segmentMass(std::size_t segments, std::span<const std::uint32_t> sees,
                               std::uint32_t segment, std::span<const ObservedRun> observed, std::size_t part,
                               std::int32_t local, std::span<const model::LayerMass> mass,
                               std::span<const std::int32_t> layers) {
  const auto found = std::ranges::find_if(observed, [&](const ObservedRun& run) {
    return run.part == part && run.begin == local && run.count == 1;
  });
  if (found == observed.end()) return {};
  const auto index = static_cast<std::size_t>(found - observed.begin());

  std::vector<double> sums(segments, 0.0);
  double rows = 0;
  for (const model::LayerMass& layer : mass) {
    if (std::ranges::find(layers, layer.layer) == layers.end()) continue;
    const compute::RunMass& run = layer.runs[index];
    const auto width =
        static_cast<std::size_t>(std::accumulate(run.keyBlocks.begin(), run.keyBlocks.end(), 0));
    if (width == 0) continue;
    const std::size_t heads = run.mass.size() / width;
    rows += static_cast<double>(heads);
    for (std::size_t head = 0; head < heads; ++head) {
      std::size_t at = head * width;
      for (std::size_t range = 0; range < run.keyBlocks.size(); ++range) {
        const std::uint32_t target = range < sees.size() ? sees[range] : segment;
        for (std::int32_t block = 0; block < run.keyBlocks[range]; ++block) {
          sums[target] += static_cast<double>(run.mass[at++]);
        }
      }
    }
  }
  if (rows == 0) return {};
  std::vector<float> result(segments);
  std::ranges::transform(sums, result.begin(), [rows](double sum) { return static_cast<float>(sum / rows); });
  return result;
}

AttentionLimit::Room::Room(std::vector<std::int32_t> layers, std::uint64_t limit)
    : leftOut{.leftOut = 0, .recorded = 0, .limit = limit}, m_layers(std::move(layers)), m_left(limit) {
  std::ranges::sort(m_layers);
  m_layers.erase(std::unique(m_layers.begin(), m_layers.end()), m_layers.end());
}

void AttentionLimit::begin(RunId run, std::vector<std::int32_t> layers, std::uint64_t limit) {
  m_rooms.insert_or_assign(run, Room(std::move(layers), limit));
}

void AttentionLimit::end(RunId run) {
  const auto room = m_rooms.find(run);
  if (room == m_rooms.end()) return;
  if (room->second.leftOut.leftOut > 0) report(run, room->second);
  m_rooms.erase(room);
}

std::uint64_t AttentionLimit::send(RunId run, RequestId request, const NodePath& node,
                                   trace::Payload payload) {
  const auto found = m_rooms.find(run);
  if (found == m_rooms.end()) return m_sink.send(run, request, node, std::move(payload));
  Room& room = found->second;
  const std::uint64_t before = room.leftOut.leftOut;
  bool isTaken = true;
  bool isAttention = false;
  if (const auto* mass = std::get_if<trace::AttentionMass>(&payload)) {
    isAttention = true;
    isTaken = room.takes(*mass);
  }
  const auto takeLayers = [&](auto* looked) {
    if (looked == nullptr) return;
    isAttention = true;
    const std::size_t layers = looked->layers.size();
    isTaken = room.takes(*looked);
    if (isTaken && looked->layers.size() < layers) ++room.leftOut.leftOut;
  };
  takeLayers(std::get_if<trace::SegmentAttention>(&payload));
  takeLayers(std::get_if<trace::PartAttention>(&payload));
  if (!isTaken) ++room.leftOut.leftOut;
  if (before == 0 && room.leftOut.leftOut == 1) report(run, room);
  if (!isTaken) return 0;
  if (isAttention) ++room.leftOut.recorded;
  return m_sink.send(run, request, node, std::move(payload));
}

/// Leaves out more layers from here on if little of the limit is left.
void AttentionLimit::Room::spare() {
  for (std::uint64_t part = leftOut.limit / 2 / m_step; m_step < m_layers.size() && m_left < part;
       part /= 2) {
    m_step *= 2;
  }
}

bool AttentionLimit::Room::isKept(std::int32_t layer) const {
  const auto after = std::ranges::upper_bound(m_layers, layer);
  return static_cast<std::size_t>(m_layers.end() - after) % m_step == 0;
}

bool AttentionLimit::Room::takesBytes(std::uint64_t bytes) {
  if (bytes > m_left) return false;
  m_left -= bytes;
  return true;
}

bool AttentionLimit::Room::takes(const trace::AttentionMass& mass) {
  const bool isMean = mass.layer < 0;
  // A forward pass sends its attention layer by layer. All rows of the forward pass must have the same
  // layers.
  if (!isMean && mass.layer < m_lastLayer) spare();
  if (!isMean) m_lastLayer = mass.layer;
  if (!isMean && !isKept(mass.layer)) return false;
  return takesBytes(sizeof(trace::Event) + trace::heapBytes(mass));
}

bool AttentionLimit::Room::takes(trace::SegmentAttention& looked) {
  return takesLayers(looked, looked.keySegments.size());
}

bool AttentionLimit::Room::takes(trace::PartAttention& looked) {
  return takesLayers(looked, looked.keyParts.size());
}

/// `keys`: number of keys into which the attention of a head is divided.
template <class Attention>
bool AttentionLimit::Room::takesLayers(Attention& looked, std::size_t keys) {
  spare();
  const std::size_t width = keys * static_cast<std::size_t>(looked.heads);
  Attention kept;
  for (std::size_t i = 0; m_step > 1 && i < looked.layers.size(); ++i) {
    if (!isKept(looked.layers[i])) continue;
    kept.layers.push_back(looked.layers[i]);
    for (const auto values : {&Attention::mass, &Attention::first}) {
      const auto from = (looked.*values).begin() + static_cast<std::ptrdiff_t>(i * width);
      (kept.*values).insert((kept.*values).end(), from, from + static_cast<std::ptrdiff_t>(width));
    }
  }
  if (m_step > 1) {
    looked.layers = std::move(kept.layers);
    looked.mass = std::move(kept.mass);
    looked.first = std::move(kept.first);
  }
  looked.mass.shrink_to_fit();
  looked.first.shrink_to_fit();
  return takesBytes(sizeof(trace::Event) + trace::heapBytes(looked));
}

void AttentionLimit::report(RunId run, const Room& room) {
  m_sink.send(run, 0, {}, room.leftOut);
}

}  // namespace spanscope::run
