// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/byte_panels.h"

#include <algorithm>
#include <cstring>

namespace spanscope::cpu {
namespace {

using compute::PackedParts;
using compute::WeightFormatInfo;

constexpr std::int64_t kHalf = BytePanelShape::kWidth / 2;

/// Bits of a code in the lower planes; the rest lies in the upper ones.
int lowBitsOf(int bits) {
  return bits == 8 ? 8 : bits >= 4 ? 4 : 2;
}

void addBits(std::byte& byte, unsigned value, unsigned place) {
  byte |= static_cast<std::byte>(value << place);
}

/// Writes some bits of a code into a plane that is zero so far.
void putInPlane(std::byte* plane, int bits, std::int64_t feature, std::int64_t k, unsigned value) {
  const std::int64_t group = k / BytePanelShape::kGroup;
  const std::int64_t vector = feature / kHalf;
  const std::int64_t byte = feature % kHalf * BytePanelShape::kGroup + k % BytePanelShape::kGroup;
  switch (bits) {
    case 8:
      plane[(2 * group + vector) * BytePanelShape::kVector + byte] = static_cast<std::byte>(value);
      break;
    case 4:
      addBits(plane[group * BytePanelShape::kVector + byte], value, static_cast<unsigned>(4 * vector));
      break;
    case 2:
      addBits(plane[group / 2 * BytePanelShape::kVector + byte], value,
              static_cast<unsigned>(2 * (group % 2 * 2 + vector)));
      break;
    default:
      addBits(plane[((2 * group + vector) * BytePanelShape::kVector + byte) / 8], value,
              static_cast<unsigned>(byte % 8));
  }
}

void packBlockOf(const WeightFormatInfo& info, const BytePanelShape& shape, const std::byte* source,
                 std::int64_t feature, std::byte* out) {
  PackedParts parts;
  compute::takeApart(info, source, parts);
  std::memcpy(out + 2 * feature, source + info.factorAt, 2);
  if (info.rule.hasMinimum)
    std::memcpy(out + 2 * (BytePanelShape::kWidth + feature), source + info.minimumAt, 2);
  const int low = lowBitsOf(info.rule.bits);
  for (std::int64_t part = 0; part < shape.parts(); ++part) {
    std::byte* at = out + shape.headBytes + part * shape.partBytes;
    if (info.rule.hasScales) at[feature] = static_cast<std::byte>(parts.scales[part]);
    if (info.rule.hasMinima)
      at[BytePanelShape::kWidth + feature] = static_cast<std::byte>(parts.minima[part]);
    at += shape.partHeadBytes;
    const std::uint8_t* codes = parts.codes + part * shape.partElements;
    for (std::int64_t k = 0; k < shape.partElements; ++k) {
      const unsigned code = codes[k];
      putInPlane(at, low, feature, k, code & ((1U << low) - 1U));
      if (info.rule.bits > low)
        putInPlane(at + shape.lowBytes, info.rule.bits - low, feature, k, code >> low);
    }
  }
}

}  // namespace

BytePanelShape bytePanelShape(const WeightFormatInfo& info) {
  const compute::PackedRule& rule = info.rule;
  constexpr std::int64_t kWidth = BytePanelShape::kWidth;
  BytePanelShape shape;
  shape.blockElements = info.blockElements;
  shape.partElements = rule.partElements;
  shape.headBytes = 2 * kWidth * (rule.hasMinimum ? 2 : 1);
  shape.partHeadBytes = kWidth * ((rule.hasScales ? 1 : 0) + (rule.hasMinima ? 1 : 0));
  shape.lowBytes = shape.partElements * kWidth * lowBitsOf(rule.bits) / 8;
  shape.partBytes = shape.partHeadBytes + shape.partElements * kWidth * rule.bits / 8;
  shape.blockBytes = shape.headBytes + shape.parts() * shape.partBytes;
  return shape;
}

void packBytePanel(const compute::HostMatrix& matrix, const BytePanelShape& shape, std::int64_t panel,
                   std::byte* out) {
  const WeightFormatInfo& info = compute::infoOf(matrix.format);
  const std::int64_t first = panel * BytePanelShape::kWidth;
  const std::int64_t features = std::min(BytePanelShape::kWidth, matrix.rows - first);
  const std::int64_t blocks = matrix.columns / shape.blockElements;
  std::fill_n(out, shape.panelBytes(matrix.columns), std::byte{0});
  for (std::int64_t feature = 0; feature < features; ++feature) {
    const std::byte* row = matrix.row(first + feature);
    for (std::int64_t block = 0; block < blocks; ++block)
      packBlockOf(info, shape, row + block * info.blockBytes, feature, out + block * shape.blockBytes);
  }
}

}  // namespace spanscope::cpu
