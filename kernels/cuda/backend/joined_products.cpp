// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/joined_products.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace spanscope::cuda {
namespace {

/// A stretch of memory; nothing at null.
struct Bytes {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Of rows, from the first element to the last, with what lies between them.
Bytes bytesOf(const void* data, std::int64_t rows, std::int64_t columns, std::int64_t stride,
              std::size_t elementBytes) {
  if (data == nullptr || rows == 0 || columns == 0) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  return {begin, begin + static_cast<std::size_t>((rows - 1) * stride + columns) * elementBytes};
}

bool overlap(const Bytes& a, const Bytes& b) {
  return a.begin < b.end && b.begin < a.end;
}

Bytes outOf(const FewRowProduct& product, const FewRowWeight& weight) {
  return bytesOf(weight.out, product.rows, weight.columns, weight.outStride,
                 weight.outIsFloat ? sizeof(float) : sizeof(Bf16));
}

/// Whether `written` is no part of the weight, nor of its bias.
bool isUnread(const Bytes& written, const FewRowProduct& product, const FewRowWeight& weight) {
  return !overlap(written,
                  bytesOf(weight.elements, weight.columns, product.depth, weight.stride, sizeof(Bf16))) &&
         !overlap(written, bytesOf(weight.bias, 1, weight.columns, weight.columns, sizeof(float)));
}

std::span<const FewRowWeight> weightsOf(const FewRowProduct& product) {
  return {product.weights, static_cast<std::size_t>(product.count)};
}

/// Whether products of the same x may run in any order.
bool areApart(const FewRowProduct& first, const FewRowProduct& second) {
  for (const FewRowWeight& a : weightsOf(first)) {
    for (const FewRowWeight& b : weightsOf(second)) {
      const Bytes out = outOf(first, a);
      const Bytes other = outOf(second, b);
      if (overlap(out, other) || !isUnread(out, second, b) || !isUnread(other, first, a)) return false;
    }
  }
  return true;
}

bool haveTheSameRows(const FewRowProduct& a, const FewRowProduct& b) {
  return a.x == b.x && a.xStride == b.xStride && a.rows == b.rows && a.depth == b.depth;
}

}  // namespace

bool JoinedProducts::join(const FewRowProduct& product) {
  if (isEmpty()) {
    m_waiting = product;
    return true;
  }
  if (!haveTheSameRows(m_waiting, product) || m_waiting.count + product.count > kMostFewRowWeights ||
      !areApart(m_waiting, product))
    return false;
  for (const FewRowWeight& weight : weightsOf(product)) m_waiting.weights[m_waiting.count++] = weight;
  return true;
}

FewRowProduct JoinedProducts::take() {
  return std::exchange(m_waiting, {});
}

}  // namespace spanscope::cuda
