// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/attention/rotations.h"

#include <algorithm>
#include <cmath>

namespace spanscope::cuda {

void Rotations::add(std::int64_t first, std::int64_t count) {
  if (count > 0) m_stretches.push_back({first, first + count, 0});
}

void appendRotations(std::int64_t first, std::int64_t end, std::span<const double> frequencies, double scale,
                     std::vector<float>& table) {
  for (std::int64_t distance = first; distance < end; ++distance) {
    const auto angle = [&](double frequency) { return static_cast<double>(distance) * frequency; };
    const auto scaleOf = [&](double frequency) { return frequency == 0 ? 1.0 : scale; };
    for (const double frequency : frequencies)
      table.push_back(static_cast<float>(std::cos(angle(frequency)) * scaleOf(frequency)));
    for (const double frequency : frequencies)
      table.push_back(static_cast<float>(std::sin(angle(frequency)) * scaleOf(frequency)));
  }
}

void Rotations::close(std::int64_t kept) {
  std::sort(m_stretches.begin(), m_stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.first < b.first; });
  std::vector<Stretch> joined;
  for (const Stretch& stretch : m_stretches) {
    if (!joined.empty() && stretch.first <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, stretch.end);
    } else {
      joined.push_back(stretch);
    }
  }
  m_rows = 0;
  m_keptRows = 0;
  if (!joined.empty() && joined.front().first >= 0 && joined.back().end <= kept) {
    m_keptRows = joined.back().end;
    m_stretches = {{.first = 0, .end = m_keptRows, .row = 0}};
    return;
  }
  for (Stretch& stretch : joined) {
    stretch.row = m_rows;
    m_rows += stretch.end - stretch.first;
  }
  m_stretches = std::move(joined);
}

std::int64_t Rotations::offsetOf(std::int64_t distance) const {
  const auto after =
      std::upper_bound(m_stretches.begin(), m_stretches.end(), distance,
                       [](std::int64_t d, const Stretch& stretch) { return d < stretch.first; });
  const Stretch& stretch = *(after - 1);
  return stretch.row - stretch.first;
}

std::vector<float> Rotations::table(std::span<const double> frequencies, double scale) const {
  std::vector<float> table;
  if (m_keptRows > 0) return table;
  table.reserve(static_cast<std::size_t>(m_rows) * 2 * frequencies.size());
  for (const Stretch& stretch : m_stretches)
    appendRotations(stretch.first, stretch.end, frequencies, scale, table);
  return table;
}

}  // namespace spanscope::cuda
