// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/machine_limits.h"

#include "engine/base/clock.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <vector>

namespace spanscope::cpu {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBufferBytes = std::size_t{512} << 20;
constexpr std::size_t kPartBytes = std::size_t{1} << 20;
constexpr std::int64_t kRounds = 20000;
constexpr std::int64_t kPartsPerThread = 20;

}  // namespace

MachineMeter::MachineMeter(int threads)
    : m_pool(threads),
      m_kernels(limitKernels()),
      m_fastKernels(fastLimitKernels()),
      m_buffer(kBufferBytes, "memory measurement") {
  // The system makes pages only when they are written. All reads of unwritten pages would read one page of
  // zeros.
  std::byte* data = m_buffer.as<std::byte>();
  m_pool.run(kBufferBytes / kPartBytes, {}, [data](std::int64_t part, int) {
    std::memset(data + static_cast<std::size_t>(part) * kPartBytes, 1, kPartBytes);
  });
}

double MachineMeter::sampleFlops() {
  return sampleOperations(m_kernels.multiplyAdd);
}

double MachineMeter::sampleBf16Flops() {
  return sampleOperations(m_fastKernels.multiplyPairs);
}

double MachineMeter::sampleByteOperations() {
  return sampleOperations(m_fastKernels.multiplyBytes);
}

double MachineMeter::sampleOperations(double (*loop)(std::int64_t rounds, float* sink)) {
  if (loop == nullptr) return 0;
  const std::int64_t parts = kPartsPerThread * m_pool.size();
  std::vector<double> operations(static_cast<std::size_t>(m_pool.size()) * 8);  // one line of cache for each
                                                                                // thread
  std::vector<float> sinks(static_cast<std::size_t>(m_pool.size()) * 16);
  const auto begin = Clock::now();
  m_pool.run(parts, {}, [&](std::int64_t, int thread) {
    const auto index = static_cast<std::size_t>(thread);
    operations[index * 8] += loop(kRounds, &sinks[index * 16]);
  });
  const double seconds = secondsSince(begin);
  double total = 0;
  for (const double each : operations) total += each;
  return total / seconds;
}

double MachineMeter::sampleReadBytes() {
  const std::byte* data = m_buffer.as<std::byte>();
  std::vector<float> sinks(static_cast<std::size_t>(m_pool.size()) * 16);
  const auto begin = Clock::now();
  m_pool.run(kBufferBytes / kPartBytes, {}, [&](std::int64_t part, int thread) {
    m_kernels.read(data + static_cast<std::size_t>(part) * kPartBytes, kPartBytes,
                   &sinks[static_cast<std::size_t>(thread) * 16]);
  });
  return static_cast<double>(kBufferBytes) / secondsSince(begin);
}

MachineLimits MachineMeter::measure(int samples) {
  MachineLimits limits;
  for (int i = 0; i < samples; ++i) {
    limits.flops = std::max(limits.flops, sampleFlops());
    limits.bf16Flops = std::max(limits.bf16Flops, sampleBf16Flops());
    limits.byteOperations = std::max(limits.byteOperations, sampleByteOperations());
    limits.readBytes = std::max(limits.readBytes, sampleReadBytes());
  }
  return limits;
}

std::uint64_t machineMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long pageBytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || pageBytes <= 0) return 0;
  std::uint64_t memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(pageBytes);
  // The text is "max", which is no number, if the group has no limit.
  std::uint64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0) memory = std::min(memory, limit);
  return memory;
}

}  // namespace spanscope::cpu
