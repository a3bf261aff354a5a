// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/finite_values.h"

#include "engine/compute/dtype.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

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

/// In a packed format, only the factors of a block can be other than finite.
std::optional<NotFinite> findInBlocks(const compute::HostMatrix& matrix) {
  const compute::WeightFormatInfo& info = compute::infoOf(matrix.format);
  const std::int64_t blocks = matrix.rows * (matrix.columns / info.blockElements);
  const std::optional<std::int64_t> block = compute::findBlockNotFinite(matrix.format, matrix.data, blocks);
  if (!block) return std::nullopt;
  std::vector<float> values(static_cast<std::size_t>(info.blockElements));
  compute::widen(matrix.format, matrix.data + *block * info.blockBytes, info.blockElements, values.data());
  const auto found =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  // A factor that is not finite may meet codes of zero only: the block is wrong all the same.
  const auto within = found == values.end() ? 0 : found - values.begin();
  return NotFinite{static_cast<std::size_t>(*block * info.blockElements + within),
                   std::numeric_limits<float>::quiet_NaN()};
}

}  // namespace

std::optional<NotFinite> findNotFinite(const compute::HostMatrix& matrix) {
  const std::byte* data = matrix.data;
  const std::size_t count = static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.columns);
  std::optional<std::size_t> index;
  switch (matrix.format) {
    case compute::WeightFormat::F32:
      index = firstNotFinite<std::uint32_t>(data, count, 0x7F800000U);
      break;
    case compute::WeightFormat::F16:
      index = firstNotFinite<std::uint16_t>(data, count, 0x7C00U);
      break;
    case compute::WeightFormat::BF16:
      index = firstNotFinite<std::uint16_t>(data, count, 0x7F80U);
      break;
    default:
      return findInBlocks(matrix);
  }
  if (!index) return std::nullopt;
  const compute::DType type = *compute::dtypeOf(matrix.format);
  return NotFinite{*index, compute::loadElement(data + *index * compute::sizeOf(type), type)};
}

std::optional<NotFinite> findNotFinite(std::span<const float> values) {
  return findNotFinite(compute::HostMatrix{std::as_bytes(values).data(), compute::WeightFormat::F32, 1,
                                           static_cast<std::int64_t>(values.size())});
}

const char* describe(const NotFinite& found) {
  return std::isnan(found.value) ? "nan" : "an infinite number";
}

}  // namespace spanscope::model
