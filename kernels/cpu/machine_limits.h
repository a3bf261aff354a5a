// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the max rates of this machine, for comparison with the rates of an operation. Open this file to
// add a limit to benchmarks.
#pragma once

#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/fast/fast_limits.h"
#include "kernels/cpu/thread_pool.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cpu {

struct MachineLimits {
  double flops = 0;      ///< f32 floating-point operations per second; a multiply-add counts as two
  double bf16Flops = 0;  ///< operations per second on bf16 pairs; 0: the processor has no such instructions
  double byteOperations = 0;  ///< operations per second on bytes; 0: the processor has no such instructions
  double readBytes = 0;       ///< bytes per second that all threads together read from memory
};

/// The loops of a measurement, for one instruction set.
struct LimitKernels {
  /// Does multiply-adds only on registers. Returns the number of floating-point operations.
  double (*multiplyAdd)(std::int64_t rounds, float* sink) = nullptr;
  /// Reads `bytes` bytes, a multiple of 1024, at an aligned address.
  void (*read)(const std::byte* data, std::size_t bytes, float* sink) = nullptr;
};

/// Returns the loops for the best instruction set of this machine.
LimitKernels limitKernels();

/// Takes single samples, so that a benchmark can alternate them with its own measurements. On a machine with
/// other work, only neighbouring samples are comparable.
class MachineMeter {
 public:
  /// Reserves 512 MiB. Throws Failure if that is impossible. 0 threads means all cores.
  explicit MachineMeter(int threads = 0);

  int threads() const { return m_pool.size(); }
  double sampleFlops();           ///< takes about 10 ms
  double sampleBf16Flops();       ///< takes about 10 ms; 0: the processor has no such instructions
  double sampleByteOperations();  ///< the same
  double sampleReadBytes();       ///< takes about 20 ms

  /// Returns the best of several samples of each rate.
  MachineLimits measure(int samples = 10);

 private:
  double sampleOperations(double (*loop)(std::int64_t rounds, float* sink));

  ThreadPool m_pool;
  LimitKernels m_kernels;
  FastLimitKernels m_fastKernels;
  AlignedBuffer m_buffer;
};

/// Returns the bytes of memory of this machine, or a smaller limit of the program's control group. Returns 0
/// if unknown.
std::uint64_t machineMemory();

}  // namespace spanscope::cpu
