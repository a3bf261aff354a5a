// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/weight_format/weight_format.h"

#include "engine/compute/dtype.h"
#include "engine/compute/weight_format/weight_format_table.h"

#include <algorithm>

namespace spanscope::compute {
namespace {

/// Each product and each sum is rounded on its own; see CMakeLists.txt.
void widenBlock(const WeightFormatInfo& info, const PackedParts& parts, float* out) {
  const PackedRule& rule = info.rule;
  for (std::int32_t part = 0; part * rule.partElements < info.blockElements; ++part) {
    const float scale = rule.hasScales ? parts.factor * static_cast<float>(parts.scales[part]) : parts.factor;
    const float added =
        rule.hasMinima ? -(parts.minimum * static_cast<float>(parts.minima[part])) : parts.minimum;
    for (std::int32_t i = part * rule.partElements; i < (part + 1) * rule.partElements; ++i) {
      const std::uint8_t code = parts.codes[i];
      const int value = rule.hasTable ? rule.table[code] : code - rule.offset;
      const float product = scale * static_cast<float>(value);
      out[i] = rule.hasMinimum ? product + added : product;
    }
  }
}

bool isFinite(const std::byte* half) {
  return (std::to_integer<unsigned>(half[1]) & 0x7CU) != 0x7CU;
}

}  // namespace

std::span<const WeightFormatInfo> weightFormats() {
  return kWeightFormats;
}

const WeightFormatInfo& infoOf(WeightFormat format) {
  return kWeightFormats[static_cast<std::size_t>(format)];
}

const WeightFormatInfo* findGgufType(std::uint32_t number) {
  const auto found = std::find_if(kWeightFormats.begin(), kWeightFormats.end(),
                                  [number](const WeightFormatInfo& info) { return info.ggufType == number; });
  return found == kWeightFormats.end() ? nullptr : &*found;
}

WeightFormat formatOf(DType type) {
  switch (type) {
    case DType::F32:
      return WeightFormat::F32;
    case DType::F16:
      return WeightFormat::F16;
    case DType::BF16:
      return WeightFormat::BF16;
  }
  return WeightFormat::F32;
}

std::optional<DType> dtypeOf(WeightFormat format) {
  switch (format) {
    case WeightFormat::F32:
      return DType::F32;
    case WeightFormat::F16:
      return DType::F16;
    case WeightFormat::BF16:
      return DType::BF16;
    default:
      return std::nullopt;
  }
}

std::size_t bytesOf(WeightFormat format, std::int64_t elements) {
  const WeightFormatInfo& info = infoOf(format);
  return static_cast<std::size_t>(elements / info.blockElements) * static_cast<std::size_t>(info.blockBytes);
}

void takeApart(const WeightFormatInfo& info, const std::byte* block, PackedParts& parts) {
  parts.factor = loadElement(block + info.factorAt, DType::F16);
  if (info.rule.hasMinimum) parts.minimum = loadElement(block + info.minimumAt, DType::F16);
  info.takeCodes({.first = block}, &parts);
}

void widen(WeightFormat format, const std::byte* data, std::int64_t elements, float* out) {
  const WeightFormatInfo& info = infoOf(format);
  if (const std::optional<DType> type = dtypeOf(format)) {
    for (std::int64_t i = 0; i < elements; ++i, data += info.blockBytes) out[i] = loadElement(data, *type);
    return;
  }
  PackedParts parts;
  for (std::int64_t i = 0; i < elements; i += info.blockElements, data += info.blockBytes) {
    takeApart(info, data, parts);
    widenBlock(info, parts, out + i);
  }
}

std::optional<std::int64_t> findBlockNotFinite(WeightFormat format, const std::byte* data,
                                               std::int64_t blocks) {
  const WeightFormatInfo& info = infoOf(format);
  for (std::int64_t block = 0; block < blocks; ++block, data += info.blockBytes) {
    if (!isFinite(data + info.factorAt) || (info.rule.hasMinimum && !isFinite(data + info.minimumAt)))
      return block;
  }
  return std::nullopt;
}

}  // namespace spanscope::compute
