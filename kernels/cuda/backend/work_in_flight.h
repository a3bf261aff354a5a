// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/runtime.h"

#include <deque>
#include <vector>

namespace spanscope::cuda {

/// Keeps the host from running far ahead of the card, so that a stop takes no longer than what was given to
/// it.
class WorkInFlight {
 public:
  WorkInFlight(const Device& device, Stream& stream) : m_device(device), m_stream(stream) {}

  /// Called once for each piece of work of about the same length, such as a layer: waits until at most
  /// `milliseconds` of work lie ahead, as far as the pieces before tell.
  void limit(double milliseconds);
  /// The stream was waited for.
  void clear();

 private:
  /// Behind all that was given.
  void addPoint();
  void dropFirstPoint();

  Device m_device;
  Stream& m_stream;
  std::deque<Event> m_points;
  std::vector<Event> m_free;  ///< to make an event and to give it back takes longer than a short layer
  double m_piece = 0;         ///< milliseconds of the piece that was last done
};

}  // namespace spanscope::cuda
