// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the tiles of an operation on threads, until the operation is stopped. Open this file to parallelize an
// operation.
#pragma once

#include "kernels/cpu/thread_pool.h"

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <utility>

namespace spanscope::cpu {

/// The threads of a backend, and the current stop token.
class Executor {
 public:
  explicit Executor(int threads) : m_pool(threads) {}

  void begin(std::stop_token stop) { m_stop = std::move(stop); }
  bool stopped() const { return m_stop.stop_requested(); }
  const std::stop_token& stopToken() const { return m_stop; }
  ThreadPool& pool() { return m_pool; }
  const ThreadPool& pool() const { return m_pool; }
  int threads() const { return m_pool.size(); }  ///< including the caller

  /// Calls tile(index, thread) for every tile, until the operation is stopped. `work` is the number of
  /// multiply-adds in all tiles. With little work, only the caller computes. Such work ends before another
  /// thread has begun.
  template <class Tile>
  void run(std::int64_t tiles, std::int64_t work, const Tile& tile) {
    run(tiles, work, m_stop, tile);
  }

  /// Works like the function above, but ignores a request to stop. Use this function for short work whose
  /// results count even after such a request.
  template <class Tile>
  void runWhole(std::int64_t tiles, std::int64_t work, const Tile& tile) {
    run(tiles, work, std::stop_token(), tile);
  }

  /// Calls range(first, last) for chunks of 0 … count. Each chunk has at least kGrain elementary steps, if
  /// there are enough. The calling thread does small work alone.
  template <class Range>
  void runRanges(std::int64_t count, std::int64_t workPerItem, const Range& range) {
    constexpr std::int64_t kGrain = 1 << 14;
    const std::int64_t chunk = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, workPerItem));
    const std::int64_t tiles = (count + chunk - 1) / chunk;
    m_pool.run(tiles, m_stop,
               [&](std::int64_t tile, int) { range(tile * chunk, std::min(count, (tile + 1) * chunk)); });
  }

 private:
  template <class Tile>
  void run(std::int64_t tiles, std::int64_t work, const std::stop_token& stop, const Tile& tile) {
    constexpr std::int64_t kWorthAThread = 1 << 18;
    if (work >= kWorthAThread) {
      m_pool.run(tiles, stop, tile);
      return;
    }
    for (std::int64_t index = 0; index < tiles && !stop.stop_requested(); ++index) tile(index, 0);
  }

  ThreadPool m_pool;
  std::stop_token m_stop;
};

}  // namespace spanscope::cpu
