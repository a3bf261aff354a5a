// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/finite_values.h"

#include "engine/compute/half.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace spanscope::model {
namespace {

/// Elements looked at together: enough for vector instructions to be worth while.
constexpr std::size_t kChunk = 2048;

/// Whether one of the chunk's elements has all bits of `exponent` set, which is how IEEE formats write what
/// is not finite. No branch within the loop, so that a compiler makes vector instructions of it.
template <class Bits>
bool anyNotFinite(const std::byte* data, Bits exponent) {
  Bits found = 0;
  for (std::size_t i = 0; i < kChunk; ++i) {
    Bits element = 0;
    std::memcpy(&element, data + i * sizeof(Bits), sizeof(Bits));
    found |= static_cast<Bits>((element & exponent) == exponent ? 1 : 0);
  }
  return found != 0;
}

template <class Bits>
std::optional<std::size_t> firstNotFinite(const std::byte* data, std::size_t count, Bits exponent) {
  std::size_t index = 0;
  while (index + kChunk <= count && !anyNotFinite(data + index * sizeof(Bits), exponent)) index += kChunk;
  for (; index < count; ++index) {
    Bits element = 0;
    std::memcpy(&element, data + index * sizeof(Bits), sizeof(Bits));
    if ((element & exponent) == exponent) return index;
  }
  return std::nullopt;
}

}  // namespace

std::optional<NotFinite> findNotFinite(const compute::HostMatrix& matrix) {
  const std::byte* data = matrix.data;
  const std::size_t count = static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.columns);
  std::optional<std::size_t> index;
  switch (matrix.type) {
    case compute::DType::F32:
      index = firstNotFinite<std::uint32_t>(data, count, 0x7F800000U);
      break;
    case compute::DType::F16:
      index = firstNotFinite<std::uint16_t>(data, count, 0x7C00U);
      break;
    case compute::DType::BF16:
      index = firstNotFinite<std::uint16_t>(data, count, 0x7F80U);
      break;
  }
  if (!index) return std::nullopt;
  return NotFinite{*index, compute::loadElement(data + *index * compute::sizeOf(matrix.type), matrix.type)};
}

std::optional<NotFinite> findNotFinite(std::span<const float> values) {
  return findNotFinite(compute::HostMatrix{std::as_bytes(values).data(), compute::DType::F32, 1,
                                           static_cast<std::int64_t>(values.size())});
}

const char* describe(const NotFinite& found) {
  return std::isnan(found.value) ? "nan" : "an infinite number";
}

}  // namespace spanscope::model
