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
                        "a multiple of the " + std::to_string(columns) + " of its weight"));
}

void Backend::mixExperts(const Tensor& /*x*/, const Tensor& /*scores*/,
                         std::span<const ExpertWeights> /*experts*/, const ExpertChoice& /*choice*/,
                         Activation /*activation*/, Tensor& /*out*/) {
  throw Failure(errorAt(info().name, "experts", "a device that computes mixtures of experts"));
}

std::size_t slotBytes(const KvShape& shape) {
  return 2 * static_cast<std::size_t>(shape.layers) * static_cast<std::size_t>(shape.heads) *
         static_cast<std::size_t>(shape.headSize) * sizeOf(shape.type);
}

}  // namespace spanscope::compute
