// SPDX-License-Identifier: GPL-3.0-or-later
// What this machine can do at best, measured here and now: to be set beside what an operation reaches.
#pragma once

#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/thread_pool.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cpu {

struct MachineLimits {
  double flops = 0;      ///< f32 floating-point operations a second; a multiply-add is two
  double readBytes = 0;  ///< bytes a second that all threads together read from memory
};

/// The loops of a measurement for one instruction set.
struct LimitKernels {
  /// Multiply-adds on registers only; says how many floating-point operations it did.
  double (*multiplyAdd)(std::int64_t rounds, float* sink) = nullptr;
  /// Reads `bytes` bytes, a multiple of 1024, at an aligned address.
  void (*read)(const std::byte* data, std::size_t bytes, float* sink) = nullptr;
};

/// The loops for the best instruction set of this machine.
LimitKernels limitKernels();

/// Takes single samples, so that a benchmark can take them in turn with what it measures: on a machine that
/// does other work too, only neighbouring samples compare.
class MachineMeter {
 public:
  /// Reserves 512 MiB. Throws Failure if it cannot be had. 0 threads: all cores.
  explicit MachineMeter(int threads = 0);

  int threads() const { return m_pool.size(); }
  double sampleFlops();      ///< takes about 10 ms
  double sampleReadBytes();  ///< takes about 20 ms

  /// The best of some samples of each.
  MachineLimits measure(int samples = 10);

 private:
  ThreadPool m_pool;
  LimitKernels m_kernels;
  AlignedBuffer m_buffer;
};

}  // namespace spanscope::cpu
