// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/attention_limit.h"

#include "engine/trace/memory_bytes.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::run {

AttentionLimit::Room::Room(std::vector<std::int32_t> layers, std::uint64_t limit)
    : leftOut{.leftOut = 0, .recorded = 0, .limit = limit}, m_layers(std::move(layers)), m_left(limit) {
  std::sort(m_layers.begin(), m_layers.end());
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

/// Leaves out more layers from here on if the room has become scarce.
void AttentionLimit::Room::spare() {
  for (std::uint64_t part = leftOut.limit / 2 / m_step; m_step < m_layers.size() && m_left < part;
       part /= 2) {
    m_step *= 2;
  }
}

bool AttentionLimit::Room::isKept(std::int32_t layer) const {
  const auto after = std::upper_bound(m_layers.begin(), m_layers.end(), layer);
  return static_cast<std::size_t>(m_layers.end() - after) % m_step == 0;
}

bool AttentionLimit::Room::takesBytes(std::uint64_t bytes) {
  if (bytes > m_left) return false;
  m_left -= bytes;
  return true;
}

bool AttentionLimit::Room::takes(const trace::AttentionMass& mass) {
  const bool isMean = mass.layer < 0;
  // A pass sends its attention layer by layer, and all its rows should have the same layers.
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
