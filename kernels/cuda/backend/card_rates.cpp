// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/card_rates.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace spanscope::cuda {
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

compute::MachineRates measureCard(const Device& device, const RateSizes& sizes) {
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
