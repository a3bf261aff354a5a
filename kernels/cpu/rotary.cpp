// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/rotary.h"

#include <cmath>

namespace spanscope::cpu {

namespace {

constexpr std::size_t kMostBytes = std::size_t{128} << 20;
constexpr std::size_t kMostTables = 16;

std::shared_ptr<const RotaryPage> makePage(const compute::RotaryTable& table, std::int64_t index) {
  const std::size_t pairs = table.inverseFrequencies.size();
  auto page = std::make_shared<RotaryPage>();
  page->cosSin.resize(static_cast<std::size_t>(RotaryPage::kRows) * 2 * pairs);
  for (std::int64_t row = 0; row < RotaryPage::kRows; ++row) {
    float* out = page->cosSin.data() + static_cast<std::size_t>(row) * 2 * pairs;
    const auto distance = static_cast<double>(index * RotaryPage::kRows + row);
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      const double angle = distance * table.inverseFrequencies[pair];
      out[pair] = static_cast<float>(std::cos(angle) * table.scaleOf(pair));
      out[pairs + pair] = static_cast<float>(std::sin(angle) * table.scaleOf(pair));
    }
  }
  return page;
}

}  // namespace

RotaryCache::Entry& RotaryCache::entryOf(const compute::RotaryTable& table) {
  for (Entry& entry : m_entries) {
    if (entry.table == table) return entry;
  }
  if (m_entries.size() >= kMostTables) {
    m_entries.clear();
    m_bytes = 0;
  }
  return m_entries.emplace_back(Entry{table, {}});
}

std::shared_ptr<const RotaryPage> RotaryCache::page(const compute::RotaryTable& table, std::int64_t index) {
  Entry& entry = entryOf(table);
  if (const auto found = entry.pages.find(index); found != entry.pages.end()) return found->second;
  auto made = makePage(table, index);
  const std::size_t bytes = made->cosSin.size() * sizeof(float);
  if (m_bytes + bytes > kMostBytes) {
    for (Entry& each : m_entries) each.pages.clear();
    m_bytes = 0;
  }
  m_bytes += bytes;
  entry.pages.emplace(index, made);
  return made;
}

RotaryRows RotaryCache::rows(const compute::RotaryTable& table, std::int64_t first, std::int64_t count) {
  std::vector<std::shared_ptr<const RotaryPage>> pages;
  const std::int64_t firstPage = rotaryPageOf(first);
  const std::int64_t lastPage = rotaryPageOf(first + count - 1);
  pages.reserve(static_cast<std::size_t>(lastPage - firstPage + 1));
  for (std::int64_t index = firstPage; index <= lastPage; ++index) pages.push_back(page(table, index));
  return {std::move(pages), first - firstPage * RotaryPage::kRows,
          2 * static_cast<std::int64_t>(table.inverseFrequencies.size())};
}

}  // namespace spanscope::cpu
