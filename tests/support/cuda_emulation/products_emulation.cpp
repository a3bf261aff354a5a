// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "tests/support/cuda_emulation/device_state.h"

namespace spanscope::cuda {

struct MatrixProducts::State {};

namespace {

float valueOf(const Bf16& value) {
  return compute::floatFromBf16(value.bits);
}

/// Sums of parts of the depth in double, rounded to f32 and added. As with a library on a card, how a sum is
/// cut depends on the number of rows: who counts on equal bits finds other ones.
void multiply(const MatrixProduct& product) {
  const int parts = product.rows % 3 + 1;
  for (int row = 0; row < product.rows; ++row) {
    for (int column = 0; column < product.columns; ++column) {
      const Bf16* const x = product.x + row * product.xStride;
      const Bf16* const weight = product.weight + column * product.weightStride;
      double sum = 0;
      for (int part = 0; part < parts; ++part) {
        double partial = 0;
        for (int k = part; k < product.depth; k += parts)
          partial += static_cast<double>(valueOf(x[k])) * static_cast<double>(valueOf(weight[k]));
        sum += static_cast<double>(static_cast<float>(partial));
      }
      const std::int64_t place = row * product.outStride + column;
      if (product.outIsFloat) {
        float& out = static_cast<float*>(product.out)[place];
        out = static_cast<float>(product.accumulate ? sum + static_cast<double>(out) : sum);
      } else {
        Bf16& out = static_cast<Bf16*>(product.out)[place];
        if (product.accumulate) sum += static_cast<double>(valueOf(out));
        out.bits = compute::bf16FromFloat(static_cast<float>(sum));
      }
    }
  }
}

/// Bytes from the first to the last element of a matrix.
std::size_t extent(int rows, int columns, std::int64_t stride, std::size_t elementBytes) {
  if (rows == 0 || columns == 0) return 0;
  return static_cast<std::size_t>((rows - 1) * stride + columns) * elementBytes;
}

}  // namespace

MatrixProducts::MatrixProducts(const Device& device) : m_state(std::make_unique<State>()) {
  device.state().use();
}
MatrixProducts::~MatrixProducts() = default;
MatrixProducts::MatrixProducts(MatrixProducts&&) noexcept = default;
MatrixProducts& MatrixProducts::operator=(MatrixProducts&&) noexcept = default;

void MatrixProducts::run(Stream& stream, const MatrixProduct& product) {
  if (product.xStride < product.depth || product.weightStride < product.depth ||
      product.outStride < product.columns) {
    throw Failure(errorAt("matrix product " + std::to_string(product.rows) + " × " +
                              std::to_string(product.columns) + " × " + std::to_string(product.depth),
                          "rows that overlap", "strides of at least a row"));
  }
  const Device::State& device = stream.state().owner.state();
  device.checkRange("matrix product, x", product.x,
                    extent(product.rows, product.depth, product.xStride, sizeof(Bf16)));
  device.checkRange("matrix product, weight", product.weight,
                    extent(product.columns, product.depth, product.weightStride, sizeof(Bf16)));
  device.checkRange("matrix product, out", product.out,
                    extent(product.rows, product.columns, product.outStride,
                           product.outIsFloat ? sizeof(float) : sizeof(Bf16)));
  stream.state().add([product] { multiply(product); });
}

}  // namespace spanscope::cuda
