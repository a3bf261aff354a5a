// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/device_limits.h"

#include "engine/base/saturated.h"
#include "kernels/cuda/backend/attention_work.h"
#include "kernels/cuda/backend/device_key_value_store.h"
#include "kernels/cuda/bf16.h"
#include "kernels/cuda/runtime.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>

namespace spanscope::cuda {

namespace {

/// An estimate. The table of rotations has 64 MiB for heads of 128 and all its positions. The table is copied
/// while it grows. The lists of a forward pass are much smaller.
constexpr std::size_t kListBytes = std::size_t{128} << 20U;

}  // namespace

compute::MemoryRules deviceMemoryRules() {
  const auto bytesOf = [](const compute::KvShape& shape) {
    const KeyValuePool pool = poolOf(shape);
    // Each head of a block also has a byte that shows whether bounds of its keys are known.
    return saturatedSum({saturatedProduct({2, pool.layers, pool.blocks, pool.blockSize, pool.heads,
                                           pool.headSize, static_cast<std::int64_t>(pool.elementBytes())}),
                         saturatedProduct({pool.layers, pool.blocks, pool.heads})});
  };
  const auto elementBytes = static_cast<std::int64_t>(sizeof(Bf16));
  return {.ofStore = bytesOf,
          .ofMatrix =
              [elementBytes](compute::WeightFormat, std::int64_t elements) {
                return saturatedProduct({elements, elementBytes});
              },
          .ofActivation = elementBytes,
          .ofPasses = kMostPartialBytes + kListBytes + kProductWorkspaceBytes};
}

namespace {

/// Returns the min time of some runs of the work, in seconds, after one run that warms up.
double bestTime(const Device& device, Stream& stream, int repeats, const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  work();
  for (int i = 0; i < repeats; ++i) {
    Event begin(device);
    Event end(device);
    stream.record(begin);
    work();
    stream.record(end);
    stream.synchronize();
    best = std::min(best, end.millisecondsSince(begin) * 1e-3);
  }
  return best;
}

}  // namespace

compute::MachineRates measureDevice(const Device& device, const RateSizes& sizes) {
  Stream stream(device);
  MatrixProducts products(device);
  const auto elements = static_cast<std::size_t>(sizes.side) * static_cast<std::size_t>(sizes.side);
  const DeviceMemory x(device, elements * sizeof(Bf16), "a measurement");
  const DeviceMemory weight(device, elements * sizeof(Bf16), "a measurement");
  const DeviceMemory out(device, elements * sizeof(Bf16), "a measurement");
  stream.fill(x.data(), 0, x.bytes());
  stream.fill(weight.data(), 0, weight.bytes());
  const MatrixProduct product{.rows = sizes.side,
                              .columns = sizes.side,
                              .depth = sizes.side,
                              .x = x.as<Bf16>(),
                              .xStride = sizes.side,
                              .weight = weight.as<Bf16>(),
                              .weightStride = sizes.side,
                              .out = out.data(),
                              .outStride = sizes.side};
  compute::MachineRates rates;
  const double side = sizes.side;
  rates.flops = 2 * side * side * side /
                bestTime(device, stream, sizes.repeats, [&] { products.run(stream, product); });
  const DeviceMemory source(device, sizes.bytes, "a measurement");
  const DeviceMemory target(device, sizes.bytes, "a measurement");
  stream.fill(source.data(), 0, source.bytes());
  rates.bytesPerSecond = 2 * static_cast<double>(sizes.bytes) / bestTime(device, stream, sizes.repeats, [&] {
                           stream.copyOnDevice(target.data(), source.data(), sizes.bytes);
                         });
  return rates;
}

}  // namespace spanscope::cuda
