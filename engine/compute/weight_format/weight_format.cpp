// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/weight_format/weight_format.h"

#include "engine/compute/half.h"
#include "engine/compute/weight_format/packed_blocks.h"

#include <algorithm>
#include <array>

namespace spanscope::compute {
namespace {

constexpr std::int32_t kSmall = 32;
constexpr std::int32_t kLarge = 256;

constexpr WeightFormatInfo plain(WeightFormat format, const char* name, std::uint32_t type,
                                 std::int32_t bytes) {
  return {.format = format, .name = name, .ggufType = type, .blockElements = 1, .blockBytes = bytes};
}

constexpr std::array<WeightFormatInfo, 15> kFormats = {{
    plain(WeightFormat::F32, "F32", 0, 4),
    plain(WeightFormat::F16, "F16", 1, 2),
    plain(WeightFormat::BF16, "BF16", 30, 2),
    {.format = WeightFormat::Q8_0,
     .name = "Q8_0",
     .ggufType = 8,
     .blockElements = kSmall,
     .blockBytes = 34,
     .rule = {.bits = 8, .offset = 128},
     .factorAt = 0,
     .takeCodes = &takeCodesQ8_0},
    {.format = WeightFormat::Q4_0,
     .name = "Q4_0",
     .ggufType = 2,
     .blockElements = kSmall,
     .blockBytes = 18,
     .rule = {.bits = 4, .offset = 8},
     .factorAt = 0,
     .takeCodes = &takeCodesQ4_0},
    {.format = WeightFormat::Q4_1,
     .name = "Q4_1",
     .ggufType = 3,
     .blockElements = kSmall,
     .blockBytes = 20,
     .rule = {.bits = 4, .hasMinimum = true},
     .factorAt = 0,
     .minimumAt = 2,
     .takeCodes = &takeCodesQ4_1},
    {.format = WeightFormat::Q5_0,
     .name = "Q5_0",
     .ggufType = 6,
     .blockElements = kSmall,
     .blockBytes = 22,
     .rule = {.bits = 5, .offset = 16},
     .factorAt = 0,
     .takeCodes = &takeCodesQ5_0},
    {.format = WeightFormat::Q5_1,
     .name = "Q5_1",
     .ggufType = 7,
     .blockElements = kSmall,
     .blockBytes = 24,
     .rule = {.bits = 5, .hasMinimum = true},
     .factorAt = 0,
     .minimumAt = 2,
     .takeCodes = &takeCodesQ5_1},
    {.format = WeightFormat::Q2_K,
     .name = "Q2_K",
     .ggufType = 10,
     .blockElements = kLarge,
     .blockBytes = 84,
     .rule = {.bits = 2, .partElements = 16, .hasScales = true, .hasMinimum = true, .hasMinima = true},
     .factorAt = 80,
     .minimumAt = 82,
     .takeCodes = &takeCodesQ2_K},
    {.format = WeightFormat::Q3_K,
     .name = "Q3_K",
     .ggufType = 11,
     .blockElements = kLarge,
     .blockBytes = 110,
     .rule = {.bits = 3, .partElements = 16, .offset = 4, .hasScales = true},
     .factorAt = 108,
     .takeCodes = &takeCodesQ3_K},
    {.format = WeightFormat::Q4_K,
     .name = "Q4_K",
     .ggufType = 12,
     .blockElements = kLarge,
     .blockBytes = 144,
     .rule = {.bits = 4, .hasScales = true, .hasMinimum = true, .hasMinima = true},
     .factorAt = 0,
     .minimumAt = 2,
     .takeCodes = &takeCodesQ4_K},
    {.format = WeightFormat::Q5_K,
     .name = "Q5_K",
     .ggufType = 13,
     .blockElements = kLarge,
     .blockBytes = 176,
     .rule = {.bits = 5, .hasScales = true, .hasMinimum = true, .hasMinima = true},
     .factorAt = 0,
     .minimumAt = 2,
     .takeCodes = &takeCodesQ5_K},
    {.format = WeightFormat::Q6_K,
     .name = "Q6_K",
     .ggufType = 14,
     .blockElements = kLarge,
     .blockBytes = 210,
     .rule = {.bits = 6, .partElements = 16, .offset = 32, .hasScales = true},
     .factorAt = 208,
     .takeCodes = &takeCodesQ6_K},
    {.format = WeightFormat::IQ4_NL,
     .name = "IQ4_NL",
     .ggufType = 20,
     .blockElements = kSmall,
     .blockBytes = 18,
     .rule = {.bits = 4, .table = kNonLinearValues.data()},
     .factorAt = 0,
     .takeCodes = &takeCodesQ4_0},
    {.format = WeightFormat::IQ4_XS,
     .name = "IQ4_XS",
     .ggufType = 23,
     .blockElements = kLarge,
     .blockBytes = 136,
     .rule = {.bits = 4, .table = kNonLinearValues.data(), .hasScales = true},
     .factorAt = 0,
     .takeCodes = &takeCodesIQ4_XS},
}};

/// Products and sums are rounded one by one; see CMakeLists.txt.
void widenBlock(const WeightFormatInfo& info, const PackedParts& parts, float* out) {
  const PackedRule& rule = info.rule;
  for (std::int32_t part = 0; part * rule.partElements < info.blockElements; ++part) {
    const float scale = rule.hasScales ? parts.factor * static_cast<float>(parts.scales[part]) : parts.factor;
    const float added =
        rule.hasMinima ? -(parts.minimum * static_cast<float>(parts.minima[part])) : parts.minimum;
    for (std::int32_t i = part * rule.partElements; i < (part + 1) * rule.partElements; ++i) {
      const std::uint8_t code = parts.codes[i];
      const int value = rule.table != nullptr ? rule.table[code] : code - rule.offset;
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
  return kFormats;
}

const WeightFormatInfo& infoOf(WeightFormat format) {
  return kFormats[static_cast<std::size_t>(format)];
}

const WeightFormatInfo* findGgufType(std::uint32_t number) {
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [number](const WeightFormatInfo& info) { return info.ggufType == number; });
  return found == kFormats.end() ? nullptr : &*found;
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
  info.takeCodes(block, parts);
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
