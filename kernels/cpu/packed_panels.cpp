// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/packed_panels.h"

#include <algorithm>
#include <cstring>

namespace spanscope::cpu {
namespace {

using compute::PackedParts;
using compute::WeightFormatInfo;

/// Bits of a code in the lower plane; the rest lies in the upper one.
int lowBits(int bits) {
  return bits == 8 ? 8 : bits >= 4 ? 4 : 2;
}

void addBits(std::byte& byte, unsigned value, unsigned place) {
  byte |= static_cast<std::byte>(value << place);
}

/// Writes a code into planes that are zero so far. `k` counts within the group.
class GroupWriter {
 public:
  GroupWriter(const PackedPanelShape& shape, int bits) : m_shape(shape), m_bits(bits) {}

  void put(std::byte* group, std::int64_t feature, std::int64_t k, unsigned code) const {
    const int low = lowBits(m_bits);
    putInPlane(group, low, feature, k, code & ((1U << low) - 1U));
    if (m_bits > low) putInPlane(group + m_shape.lowBytes, m_bits - low, feature, k, code >> low);
  }

 private:
  void putInPlane(std::byte* plane, int bits, std::int64_t feature, std::int64_t k, unsigned value) const {
    const std::int64_t half = m_shape.width / 2;
    if (bits == 8) {
      plane[k * m_shape.width + feature] = static_cast<std::byte>(value);
      return;
    }
    const std::int64_t together = 4 / bits;  // k that share a byte
    const std::int64_t place = k % together * 2 + (feature < half ? 0 : 1);
    addBits(plane[k / together * half + feature % half], value, static_cast<unsigned>(place * bits));
  }

  const PackedPanelShape& m_shape;
  int m_bits;
};

void putHalf(std::byte* halves, std::int64_t feature, const std::byte* source) {
  std::memcpy(halves + 2 * feature, source, 2);
}

/// One block of one feature.
void packBlock(const WeightFormatInfo& info, const PackedPanelShape& shape, const std::byte* source,
               std::int64_t feature, std::byte* out) {
  PackedParts parts;
  compute::takeApart(info, source, parts);
  putHalf(out, feature, source + info.factorAt);
  if (info.rule.hasMinimum) putHalf(out + 2 * shape.width, feature, source + info.minimumAt);
  const GroupWriter writer(shape, info.rule.bits);
  const std::int64_t count = shape.blockElements / shape.partElements;
  for (std::int64_t part = 0; part < count; ++part) {
    std::byte* at = out + shape.headBytes + part * shape.partBytes;
    if (info.rule.hasScales) at[feature] = static_cast<std::byte>(parts.scales[part]);
    if (info.rule.hasMinima) at[shape.width + feature] = static_cast<std::byte>(parts.minima[part]);
    const std::uint8_t* codes = parts.codes + part * shape.partElements;
    for (std::int64_t k = 0; k < shape.partElements; ++k) {
      std::byte* group = at + shape.partHeadBytes + k / kPackedGroup * shape.groupBytes;
      writer.put(group, feature, k % kPackedGroup, codes[k]);
    }
  }
}

}  // namespace

PackedPanelShape packedPanelShape(const WeightFormatInfo& info, std::int64_t width) {
  const compute::PackedRule& rule = info.rule;
  PackedPanelShape shape;
  shape.width = width;
  shape.blockElements = info.blockElements;
  shape.partElements = rule.partElements;
  shape.headBytes = 2 * width * (rule.hasMinimum ? 2 : 1);
  shape.partHeadBytes = width * ((rule.hasScales ? 1 : 0) + (rule.hasMinima ? 1 : 0));
  shape.lowBytes = kPackedGroup * width * lowBits(rule.bits) / 8;
  shape.groupBytes = kPackedGroup * width * rule.bits / 8;
  shape.partBytes = shape.partHeadBytes + shape.partElements / kPackedGroup * shape.groupBytes;
  shape.blockBytes = shape.headBytes + shape.blockElements / shape.partElements * shape.partBytes;
  return shape;
}

void packPanel(const compute::HostMatrix& matrix, const PackedPanelShape& shape, std::int64_t panel,
               std::byte* out) {
  const WeightFormatInfo& info = compute::infoOf(matrix.format);
  const std::int64_t first = panel * shape.width;
  const std::int64_t features = std::min(shape.width, matrix.rows - first);
  const std::int64_t blocks = matrix.columns / shape.blockElements;
  std::fill_n(out, shape.panelBytes(matrix.columns), std::byte{0});
  for (std::int64_t feature = 0; feature < features; ++feature) {
    const std::byte* row = matrix.row(first + feature);
    for (std::int64_t block = 0; block < blocks; ++block)
      packBlock(info, shape, row + block * info.blockBytes, feature, out + block * shape.blockBytes);
  }
}

}  // namespace spanscope::cpu
