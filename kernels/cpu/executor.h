// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cpu/thread_pool.h"

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <utility>

namespace spanscope::cpu {

/// The threads of a backend together with the stop token that is in force.
class Executor {
 public:
  explicit Executor(int threads) : m_pool(threads) {}

  void begin(std::stop_token stop) { m_stop = std::move(stop); }
  bool stopped() const { return m_stop.stop_requested(); }
  const std::stop_token& stopToken() const { return m_stop; }
  ThreadPool& pool() { return m_pool; }
  const ThreadPool& pool() const { return m_pool; }
  int threads() const { return m_pool.size(); }  ///< the caller included

  /// tile(index, thread) for every tile, until stopped. `work` counts the multiply-adds of all tiles: where
  /// there are few, the caller is done before another thread has begun, and on a busy machine before that has
  /// its turn.
  template <class Tile>
  void run(std::int64_t tiles, std::int64_t work, const Tile& tile) {
    run(tiles, work, m_stop, tile);
  }

  /// The same to the end: for what is short and whose results count even if a stop is asked for meanwhile.
  template <class Tile>
  void runWhole(std::int64_t tiles, std::int64_t work, const Tile& tile) {
    run(tiles, work, std::stop_token(), tile);
  }

  /// range(first, last) over 0 … count, cut into chunks of at least kGrain elementary steps where there are
  /// as many; what is small runs on the caller.
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
