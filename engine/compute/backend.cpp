// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/backend.h"

#include "engine/base/error.h"

namespace spanscope::compute {

std::size_t sizeOf(DType type) {
  return type == DType::F32 ? 4 : 2;
}

const char* nameOf(DType type) {
  switch (type) {
    case DType::F32:
      return "f32";
    case DType::F16:
      return "f16";
    case DType::BF16:
      return "bf16";
  }
  return "?";
}

std::int64_t normColumns(std::int64_t rowColumns, const Weight& weight) {
  const std::int64_t columns = weight.columns();
  if (columns > 0 && rowColumns % columns == 0) return columns;
  throw Failure(errorAt("norm", "rows of " + std::to_string(rowColumns) + " columns",
                        "a multiple of " + std::to_string(columns) + ", the columns of the weight"));
}

void Backend::mixExperts(const Tensor& /*x*/, const Tensor& /*scores*/,
                         std::span<const ExpertWeights> /*experts*/, const ExpertChoice& /*choice*/,
                         Activation /*activation*/, Tensor& /*out*/) {
  throw Failure(errorAt(info().name, "experts", "a device that computes mixtures of experts"));
}

void checkColumns(std::int64_t columns, std::int64_t first, std::int64_t count) {
  if (first >= 0 && count >= 0 && first <= columns && count <= columns - first) return;
  throw Failure(errorAt("columns", std::to_string(count) + " from " + std::to_string(first),
                        "columns of a row with " + std::to_string(columns)));
}

std::int64_t KvShape::slotElements() const {
  if (byLayer.empty()) return layers * KvHeads{heads, headSize}.elements();
  std::int64_t elements = 0;
  for (const KvHeads& layer : byLayer) elements += layer.elements();
  return elements;
}

std::size_t slotBytes(const KvShape& shape) {
  return 2 * static_cast<std::size_t>(shape.slotElements()) * sizeOf(shape.type);
}

}  // namespace spanscope::compute
