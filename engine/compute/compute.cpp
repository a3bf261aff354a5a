// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/backend.h"

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

std::size_t slotBytes(const KvShape& shape) {
  return 2 * static_cast<std::size_t>(shape.layers) * static_cast<std::size_t>(shape.heads) *
         static_cast<std::size_t>(shape.headSize) * sizeOf(shape.type);
}

}  // namespace spanscope::compute
