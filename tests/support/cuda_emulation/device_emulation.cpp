// SPDX-License-Identifier: GPL-3.0-or-later
// The layouts of fragments, as the PTX ISA manual gives them by formula. tst_fragments compares them with the
// manual's figures.
#include "kernels/cuda/device.h"

namespace spanscope::cuda::emulation {

namespace {

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kDepth = 16;

float halfOf(std::uint32_t word, int element) {
  return floatOf(element == 0 ? word << 16U : word & 0xFFFF0000U);
}

struct Matrices {
  float left[kRows][kDepth];
  float right[kDepth][kColumns];
  float sum[kRows][kColumns];
};

/// Calls visit(lane, i, row, column) for the elements c_i of the accumulators.
template <class Visit>
void eachSum(const Visit& visit) {
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 4; ++i) visit(lane, i, lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1));
  }
}

Matrices gather(void* const* operands) {
  Matrices all{};
  const auto operandOf = [&](int lane) -> const ProductOperand& {
    return *static_cast<const ProductOperand*>(operands[lane]);
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    const int group = lane / 4;
    const int inGroup = lane % 4;
    for (int i = 0; i < 8; ++i) {
      const int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
      const int column = inGroup * 2 + (i & 1) + (i < 4 ? 0 : 8);
      all.left[row][column] = halfOf(operandOf(lane).left->registers[i / 2], i & 1);
    }
    for (int i = 0; i < 4; ++i) {
      const int row = inGroup * 2 + (i & 1) + (i < 2 ? 0 : 8);
      all.right[row][group] = halfOf(operandOf(lane).right->registers[i / 2], i & 1);
    }
  }
  eachSum(
      [&](int lane, int i, int row, int column) { all.sum[row][column] = operandOf(lane).sum->values[i]; });
  return all;
}

}  // namespace

void completeProduct(void* const* operands) {
  Matrices all = gather(operands);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      for (int k = 0; k < kDepth; ++k) all.sum[row][column] += all.left[row][k] * all.right[k][column];
    }
  }
  eachSum([&](int lane, int i, int row, int column) {
    static_cast<ProductOperand*>(operands[lane])->sum->values[i] = all.sum[row][column];
  });
}

std::uint16_t loadedElement(void* const* operands, int index, int lane, int element, bool transposed) {
  const int row = transposed ? lane % 4 * 2 + element : lane / 4;
  const int column = transposed ? lane / 4 : lane % 4 * 2 + element;
  const auto& owner = *static_cast<const MatricesOperand*>(operands[8 * index + row]);
  return owner.row[column];
}

void check16(const void* pointer) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % 16 != 0)
    BlockRunner::current().fail("accesses 16 bytes at an address that is no multiple of 16",
                                "a multiple of 16");
}

}  // namespace spanscope::cuda::emulation
