// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/work_in_flight.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace spanscope::cuda {
namespace {

/// Before anything is known of how long a piece takes.
constexpr std::size_t kFirstPieces = 2;
constexpr std::size_t kMostPieces = 64;

}  // namespace

void WorkInFlight::addPoint() {
  if (m_free.empty()) m_free.emplace_back(m_device);
  m_stream.record(m_free.back());
  m_points.push_back(std::move(m_free.back()));
  m_free.pop_back();
}

void WorkInFlight::dropFirstPoint() {
  m_free.push_back(std::move(m_points.front()));
  m_points.pop_front();
}

void WorkInFlight::clear() {
  while (!m_points.empty()) dropFirstPoint();
}

void WorkInFlight::limit(double milliseconds) {
  addPoint();
  std::size_t most = kFirstPieces;
  if (m_piece > 0)
    most =
        static_cast<std::size_t>(std::clamp(milliseconds / m_piece, 1.0, static_cast<double>(kMostPieces)));
  while (m_points.size() > most + 1) {
    m_points[1].synchronize();
    m_piece = m_points[1].millisecondsSince(m_points[0]);
    dropFirstPoint();
  }
}

}  // namespace spanscope::cuda
