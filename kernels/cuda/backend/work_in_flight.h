// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/runtime.h"

#include <deque>
#include <vector>

namespace spanscope::cuda {

/// Keeps the host from running far ahead of the card: a stop has to wait for all work that was given to the
/// card.
class WorkInFlight {
 public:
  WorkInFlight(const Device& device, Stream& stream) : m_device(device), m_stream(stream) {}

  /// Call this once for each piece of work of about the same length, such as a layer. It waits until at most
  /// `milliseconds` of work lie ahead, estimated from earlier pieces.
  void limit(double milliseconds);
  /// Call this after the stream was waited for.
  void clear();

 private:
  /// Adds a point after all given work.
  void addPoint();
  void dropFirstPoint();

  Device m_device;
  Stream& m_stream;
  std::deque<Event> m_points;
  std::vector<Event> m_free;  ///< for reuse: making and freeing an event takes longer than a short layer
  double m_piece = 0;         ///< milliseconds of the latest finished piece
};

}  // namespace spanscope::cuda
