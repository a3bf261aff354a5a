// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_rows.h"

#include <algorithm>
#include <set>

namespace spanscope::ui {

RecordedRows::RecordedRows(const ViewInput& input, RequestId request) {
  const RequestEvents* events = input.trace->request(request);
  if (events == nullptr) return;
  std::set<std::int32_t> layers;
  std::set<std::uint32_t> tokenSegments;
  for (const std::size_t index : events->attention) {
    if (index >= input.position) break;
    const auto* mass = std::get_if<trace::AttentionMass>(&input.trace->event(index).payload);
    if (mass == nullptr) continue;
    m_events[{mass->segment, mass->virtualIndex}].push_back(index);
    layers.insert(mass->layer);
    m_heads = std::max(m_heads, mass->heads);
    if (mass->row >= 0) tokenSegments.insert(mass->segment);
    if (mass->row >= 0 && mass->keySpan == 1) m_singleKeys.insert(mass->segment);
  }
  m_layers.assign(layers.begin(), layers.end());
  m_tokenSegments.assign(tokenSegments.begin(), tokenSegments.end());
}

std::span<const std::size_t> RecordedRows::at(const trace::BlockPlace& place) const {
  const auto found = m_events.find(place);
  return found == m_events.end() ? std::span<const std::size_t>()
                                 : std::span<const std::size_t>(found->second);
}

AttentionSums::AttentionSums(std::size_t rows, std::size_t columns)
    : m_columns(columns), m_sums(rows * columns, 0.0F), m_weights(rows, 0.0F) {}

bool AttentionSums::add(std::size_t row, const trace::AttentionMass& mass,
                        std::span<const std::uint32_t> keys, std::optional<std::int32_t> head,
                        const ColumnOf& columnOf) {
  if (keys.size() != mass.keyBlocks.size() || mass.rows <= 0) return false;
  if (mass.heads <= 0 || (head && *head >= mass.heads)) return false;
  const auto heads = static_cast<std::size_t>(mass.heads);
  const std::size_t width = mass.mass.size() / heads;
  const std::size_t first = head ? static_cast<std::size_t>(*head) : 0;
  const std::size_t last = head ? first + 1 : heads;
  const float weight = static_cast<float>(mass.rows) / static_cast<float>(last - first);
  m_weights[row] += static_cast<float>(mass.rows);
  float* sums = m_sums.data() + row * m_columns;
  std::size_t at = 0;
  for (std::size_t range = 0; range < keys.size(); ++range) {
    for (std::int32_t stretch = 0; stretch < mass.keyBlocks[range]; ++stretch, ++at) {
      const std::int32_t column = columnOf(keys[range], std::int64_t{stretch} * mass.keySpan);
      if (column < 0) continue;
      float sum = 0;
      for (std::size_t h = first; h < last; ++h) sum += mass.mass[h * width + at];
      sums[column] += weight * sum;
    }
  }
  return true;
}

std::vector<float> AttentionSums::take() const {
  std::vector<float> mean = m_sums;
  for (std::size_t row = 0; row < m_weights.size(); ++row) {
    if (m_weights[row] <= 0) continue;
    for (std::size_t column = 0; column < m_columns; ++column)
      mean[row * m_columns + column] /= m_weights[row];
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
    // The same block may stand in several places of the request that stored it; its index in the chain is the
    // same in all of them, and the first one is where it was computed.
    const auto same =
        std::find_if(found->second.begin(), found->second.end(),
                     [&](const trace::BlockPlace& at) { return at.virtualIndex == lookup->virtualIndex; });
    if (same == found->second.end()) continue;
    result.push_back(
        {.place = place, .run = lookup->storedByRun, .request = lookup->storedByRequest, .storedAt = *same});
  }
  return result;
}

}  // namespace spanscope::ui
