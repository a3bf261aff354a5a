// SPDX-License-Identifier: GPL-3.0-or-later
// An emulated card with a stream, and arrays on it, for tests of kernels.
#pragma once

#include "engine/compute/dtype.h"
#include "kernels/cuda/runtime.h"
#include "tests/support/cuda_emulation/emulation.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::testing {

/// An array in the card's memory, of exactly its size.
template <class T>
class DeviceArray {
 public:
  /// Makes an array that holds NaN or −1.
  DeviceArray(const cuda::Device& device, std::size_t count)
      : m_count(count), m_memory(device, count * sizeof(T), "a test") {}

  T* data() const { return m_memory.template as<T>(); }
  std::size_t size() const { return m_count; }

 private:
  std::size_t m_count;
  cuda::DeviceMemory m_memory;
};

class EmulatedDevice {
 public:
  cuda::Device device = cuda::Device::open(0);
  cuda::Stream stream{device};

  template <class T>
  DeviceArray<T> empty(std::size_t count) const {
    return DeviceArray<T>(device, count);
  }
  template <class T>
  DeviceArray<T> upload(const std::vector<T>& values) {
    DeviceArray<T> array(device, values.size());
    stream.copyToDevice(array.data(), values.data(), values.size() * sizeof(T));
    stream.synchronize();
    return array;
  }
  template <class T>
  std::vector<T> download(const DeviceArray<T>& array) {
    std::vector<T> values(array.size());
    stream.copyToHost(values.data(), array.data(), values.size() * sizeof(T));
    stream.synchronize();
    return values;
  }
};

inline cuda::Bf16 roundedToBf16(float value) {
  return {compute::bf16FromFloat(value)};
}
inline std::vector<cuda::Bf16> toBf16(std::span<const float> values) {
  std::vector<cuda::Bf16> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), roundedToBf16);
  return result;
}
inline float valueOf(cuda::Bf16 value) {
  return compute::floatFromBf16(value.bits);
}
inline std::vector<float> toFloats(std::span<const cuda::Bf16> values) {
  std::vector<float> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(),
                 [](cuda::Bf16 value) { return valueOf(value); });
  return result;
}

/// Runs `work` with threads in every order. The results should be the same each time.
inline void inEveryOrder(EmulatedDevice& card, const std::function<void(const char* order)>& work) {
  using cuda::emulation::ThreadOrder;
  for (const ThreadOrder order : cuda::emulation::kThreadOrders) {
    cuda::emulation::optionsOf(card.device).order = order;
    work(order == ThreadOrder::Ascending    ? "ascending"
         : order == ThreadOrder::Descending ? "descending"
                                            : "shuffled");
  }
}

}  // namespace spanscope::testing
