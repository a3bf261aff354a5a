// SPDX-License-Identifier: GPL-3.0-or-later
// Caches cosines and sines of rotary embeddings. Open this file to change how rotations are computed.
#pragma once

#include "engine/compute/backend.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spanscope::cpu {

/// Cosines and sines of kRows consecutive distances.
struct RotaryPage {
  static constexpr std::int64_t kRows = 64;
  std::vector<float> cosSin;  ///< [kRows][pairs cosines, pairs sines]
};

/// Cosines and sines of the distances first … first + count − 1. Keeps the necessary pages alive.
class RotaryRows {
 public:
  RotaryRows() = default;
  RotaryRows(std::vector<std::shared_ptr<const RotaryPage>> pages, std::int64_t offset,
             std::int64_t rowElements)
      : m_pages(std::move(pages)), m_offset(offset), m_rowElements(rowElements) {}

  /// Returns `pairs` cosines, then `pairs` sines, of the distance first + index.
  const float* row(std::int64_t index) const {
    const std::int64_t place = m_offset + index;
    return m_pages[static_cast<std::size_t>(place / RotaryPage::kRows)]->cosSin.data() +
           place % RotaryPage::kRows * m_rowElements;
  }

 private:
  std::vector<std::shared_ptr<const RotaryPage>> m_pages;
  std::int64_t m_offset = 0;
  std::int64_t m_rowElements = 0;
};

/// Makes pages at their first use. The results depend only on the table and the distance, not on earlier
/// calls. The cache drops all pages beyond a size limit.
class RotaryCache {
 public:
  RotaryRows rows(const compute::RotaryTable& table, std::int64_t first, std::int64_t count);
  std::shared_ptr<const RotaryPage> page(const compute::RotaryTable& table, std::int64_t index);

 private:
  struct Entry {
    compute::RotaryTable table;
    std::unordered_map<std::int64_t, std::shared_ptr<const RotaryPage>> pages;
  };
  Entry& entryOf(const compute::RotaryTable& table);

  std::vector<Entry> m_entries;
  std::size_t m_bytes = 0;
};

/// Returns the index of the page that contains a distance. Distances may be negative.
constexpr std::int64_t rotaryPageOf(std::int64_t distance) {
  return distance >= 0 ? distance / RotaryPage::kRows
                       : -((-distance + RotaryPage::kRows - 1) / RotaryPage::kRows);
}

}  // namespace spanscope::cpu
