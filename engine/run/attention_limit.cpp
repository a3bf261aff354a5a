// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/attention_limit.h"

#include "engine/trace/memory_bytes.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::run {

void AttentionLimit::begin(RunId run, std::vector<std::int32_t> layers, std::uint64_t limit) {
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  m_run = run;
  m_layers = std::move(layers);
  m_limit = m_left = limit;
  m_step = 1;
  m_lastLayer = -1;
  m_recorded = m_leftOut = 0;
}

void AttentionLimit::end() {
  if (m_leftOut > 0) report();
}

std::uint64_t AttentionLimit::send(RunId run, RequestId request, const NodePath& node,
                                   trace::Payload payload) {
  if (const auto* mass = std::get_if<trace::AttentionMass>(&payload); mass != nullptr && run == m_run) {
    if (!takes(*mass)) {
      if (++m_leftOut == 1) report();
      return 0;
    }
    ++m_recorded;
  }
  return m_sink.send(run, request, node, std::move(payload));
}

bool AttentionLimit::takes(const trace::AttentionMass& mass) {
  // A pass sends its attention layer by layer, and should have the same layers of all its rows.
  if (mass.layer < m_lastLayer) {
    for (std::uint64_t part = m_limit / 2 / m_step; m_step < m_layers.size() && m_left < part; part /= 2) {
      m_step *= 2;
    }
  }
  m_lastLayer = mass.layer;
  const auto after = std::upper_bound(m_layers.begin(), m_layers.end(), mass.layer);
  if (static_cast<std::size_t>(m_layers.end() - after) % m_step != 0) return false;
  const std::uint64_t bytes = sizeof(trace::Event) + trace::heapBytes(mass);
  if (bytes > m_left) return false;
  m_left -= bytes;
  return true;
}

void AttentionLimit::report() {
  m_sink.send(m_run, 0, {},
              trace::AttentionLeftOut{.leftOut = m_leftOut, .recorded = m_recorded, .limit = m_limit});
}

}  // namespace spanscope::run
