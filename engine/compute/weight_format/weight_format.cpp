// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/weight_format/weight_format.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace spanscope::compute {

namespace {

/// Each product and each sum is rounded separately; see CMakeLists.txt.
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

/// Of powers of two, the last number is NaN.
bool hasFiniteFactor(const WeightFormatInfo& info, const std::byte* block) {
  const std::byte* const factor = block + info.factorAt;
  return info.rule.isPowerOfTwo ? *factor != std::byte{255} : isFinite(factor);
}

}  // namespace

std::span<const WeightFormatInfo> weightFormats() {
  return kWeightFormats;
}

const WeightFormatInfo& infoOf(WeightFormat format) {
  return kWeightFormats[static_cast<std::size_t>(format)];
}

const WeightFormatInfo* findGgufType(std::uint32_t number) {
  const auto found = std::ranges::find_if(
      kWeightFormats, [number](const WeightFormatInfo& info) { return info.ggufType == number; });
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

std::uint16_t factorBits(const WeightFormatInfo& info, const std::byte* block) {
  std::uint16_t bits = 0;
  if (!info.rule.isPowerOfTwo) {
    std::memcpy(&bits, block + info.factorAt, sizeof bits);
    return bits;
  }
  // The exponent is one lower than in a float, and the two lowest numbers are subnormal.
  const auto exponent = std::to_integer<unsigned>(block[info.factorAt]);
  return static_cast<std::uint16_t>(exponent < 2 ? 0x20U << exponent : (exponent - 1) << 7U);
}

void storeFactor(const WeightFormatInfo& info, float factor, std::byte* block) {
  if (!info.rule.isPowerOfTwo) return storeElement(block + info.factorAt, DType::F16, factor);
  constexpr float kBias = 128;
  block[info.factorAt] =
      static_cast<std::byte>(std::clamp(std::ceil(std::log2(factor)) + kBias, 0.0F, 254.0F));
}

void takeApart(const WeightFormatInfo& info, const std::byte* block, PackedParts& parts) {
  parts.factor = info.rule.isPowerOfTwo ? floatFromBf16(factorBits(info, block))
                                        : loadElement(block + info.factorAt, DType::F16);
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
    if (!hasFiniteFactor(info, data) || (info.rule.hasMinimum && !isFinite(data + info.minimumAt)))
      return block;
  }
  return std::nullopt;
}

namespace {

constexpr std::size_t kHalf = 16;      // elements of half a small block
constexpr std::size_t kLine = 32;      // elements of one line of a large block
constexpr std::size_t kStretch = 128;  // a large block has two sections of four lines

/// A copy of some bytes of a block. Loops that read the copy do not write to it. The compiler can therefore
/// vectorize these loops.
template <std::size_t kCount>
std::array<std::uint8_t, kCount> bytesAt(const std::byte* block) {
  std::array<std::uint8_t, kCount> bytes;
  std::memcpy(bytes.data(), block, kCount);
  return bytes;
}

std::uint8_t byteAt(const std::byte* block, std::size_t place) {
  return std::to_integer<std::uint8_t>(block[place]);
}

std::uint16_t wordAt(const std::byte* block, std::size_t place) {
  return static_cast<std::uint16_t>(byteAt(block, place) | (byteAt(block, place + 1) << 8));
}

std::uint8_t low4(std::uint8_t byte) {
  return byte & 15U;
}
std::uint8_t high4(std::uint8_t byte) {
  return static_cast<std::uint8_t>(byte >> 4);
}

/// Byte j holds element j in its lower half, and element j + 16 in its upper half.
void takeHalves(const std::byte* bytes, std::uint8_t* codes) {
  const auto own = bytesAt<kHalf>(bytes);
  for (std::size_t j = 0; j < kHalf; ++j) codes[j] = low4(own[j]);
  for (std::size_t j = 0; j < kHalf; ++j) codes[j + kHalf] = high4(own[j]);
}

/// Bit j of four bytes is bit 4 of element j.
void addFifthBits(const std::byte* bytes, std::uint8_t* codes) {
  for (std::size_t j = 0; j < 2 * kHalf; ++j) {
    const auto bit = static_cast<std::uint8_t>((byteAt(bytes, j / 8) >> (j % 8)) & 1U);
    codes[j] = static_cast<std::uint8_t>(codes[j] | (bit << 4));
  }
}

/// Four bits of each line: each 32 bytes hold two lines, the first in the lower halves.
void takeLines(const std::byte* bytes, std::uint8_t* codes) {
  for (std::size_t pair = 0; pair < 4; ++pair) {
    const auto own = bytesAt<kLine>(bytes + pair * kLine);
    std::uint8_t* const first = codes + 2 * pair * kLine;
    for (std::size_t j = 0; j < kLine; ++j) first[j] = low4(own[j]);
    for (std::size_t j = 0; j < kLine; ++j) first[j + kLine] = high4(own[j]);
  }
}

/// Two bits of each line. Each 32 bytes contain the four lines of a section, the first in the lowest bits.
void takeCrumbs(const std::byte* bytes, std::uint8_t* codes) {
  for (std::size_t stretch = 0; stretch < 2; ++stretch) {
    const auto own = bytesAt<kLine>(bytes + stretch * kLine);
    for (std::size_t line = 0; line < 4; ++line) {
      std::uint8_t* const out = codes + stretch * kStretch + line * kLine;
      for (std::size_t j = 0; j < kLine; ++j) out[j] = static_cast<std::uint8_t>((own[j] >> (2 * line)) & 3U);
    }
  }
}

/// Bit `line` of byte j belongs to element j of the line; this bit becomes bit `place` of the code.
void addLineBits(const std::byte* bytes, unsigned place, std::uint8_t* codes) {
  const auto own = bytesAt<kLine>(bytes);
  for (std::size_t line = 0; line < 8; ++line) {
    std::uint8_t* const out = codes + line * kLine;
    for (std::size_t j = 0; j < kLine; ++j)
      out[j] = static_cast<std::uint8_t>(out[j] | (((own[j] >> line) & 1U) << place));
  }
}

/// Eight scales and eight minima of six bits in twelve bytes. The first four scales and minima use the lower
/// six bits of separate bytes. The other four have four bits in the last bytes, and two bits in the top bits
/// of the first bytes.
void takeScalesAndMinima(const std::byte* bytes, PackedParts& parts) {
  for (std::size_t j = 0; j < 4; ++j) {
    const std::uint8_t scale = byteAt(bytes, j);
    const std::uint8_t minimum = byteAt(bytes, j + 4);
    const std::uint8_t last = byteAt(bytes, j + 8);
    parts.scales[j] = static_cast<std::int8_t>(scale & 63U);
    parts.minima[j] = minimum & 63U;
    parts.scales[j + 4] = static_cast<std::int8_t>(low4(last) | ((scale >> 6) << 4));
    parts.minima[j + 4] = static_cast<std::uint8_t>(high4(last) | ((minimum >> 6) << 4));
  }
}

void takeQ8_0(const std::byte* block, PackedParts& parts) {
  // Signed bytes become codes from 0 on: −128 is 0.
  const auto own = bytesAt<2 * kHalf>(block + 2);
  for (std::size_t j = 0; j < own.size(); ++j) parts.codes[j] = own[j] ^ 0x80U;
}

void takeQ4_0(const std::byte* block, PackedParts& parts) {
  takeHalves(block + 2, parts.codes);
}

void takeMXFP4(const std::byte* block, PackedParts& parts) {
  takeHalves(block + 1, parts.codes);
}

void takeQ4_1(const std::byte* block, PackedParts& parts) {
  takeHalves(block + 4, parts.codes);
}

void takeQ5_0(const std::byte* block, PackedParts& parts) {
  takeHalves(block + 6, parts.codes);
  addFifthBits(block + 2, parts.codes);
}

void takeQ5_1(const std::byte* block, PackedParts& parts) {
  takeHalves(block + 8, parts.codes);
  addFifthBits(block + 4, parts.codes);
}

void takeQ2_K(const std::byte* block, PackedParts& parts) {
  for (std::size_t part = 0; part < 16; ++part) {
    parts.scales[part] = static_cast<std::int8_t>(low4(byteAt(block, part)));
    parts.minima[part] = high4(byteAt(block, part));
  }
  takeCrumbs(block + 16, parts.codes);
}

void takeQ3_K(const std::byte* block, PackedParts& parts) {
  takeCrumbs(block + 32, parts.codes);
  addLineBits(block, 2, parts.codes);
  // Each scale has six bits: four bits in halves of eight bytes, two bits in four further bytes. The offset
  // is −32.
  const std::byte* scales = block + 96;
  for (std::size_t part = 0; part < 16; ++part) {
    const std::uint8_t byte = byteAt(scales, part % 8);
    const std::uint8_t low = part < 8 ? low4(byte) : high4(byte);
    const unsigned high = (byteAt(scales, 8 + part % 4) >> (2 * (part / 4))) & 3U;
    parts.scales[part] = static_cast<std::int8_t>(static_cast<int>(low | (high << 4)) - 32);
  }
}

void takeQ4_K(const std::byte* block, PackedParts& parts) {
  takeScalesAndMinima(block + 4, parts);
  takeLines(block + 16, parts.codes);
}

void takeQ5_K(const std::byte* block, PackedParts& parts) {
  takeScalesAndMinima(block + 4, parts);
  takeLines(block + 48, parts.codes);
  addLineBits(block + 16, 4, parts.codes);
}

void takeQ6_K(const std::byte* block, PackedParts& parts) {
  for (std::size_t stretch = 0; stretch < 2; ++stretch) {
    const auto first = bytesAt<kLine>(block + stretch * 64);
    const auto second = bytesAt<kLine>(block + stretch * 64 + kLine);
    const auto tops = bytesAt<kLine>(block + 128 + stretch * kLine);
    std::uint8_t* const codes = parts.codes + stretch * kStretch;
    const auto join = [](unsigned four, unsigned two) {
      return static_cast<std::uint8_t>(four | ((two & 3U) << 4U));
    };
    for (std::size_t j = 0; j < kLine; ++j) codes[j] = join(first[j] & 15U, tops[j]);
    for (std::size_t j = 0; j < kLine; ++j) codes[j + kLine] = join(second[j] & 15U, tops[j] >> 2U);
    for (std::size_t j = 0; j < kLine; ++j) codes[j + 2 * kLine] = join(first[j] >> 4U, tops[j] >> 4U);
    for (std::size_t j = 0; j < kLine; ++j) codes[j + 3 * kLine] = join(second[j] >> 4U, tops[j] >> 6U);
  }
  for (std::size_t part = 0; part < 16; ++part)
    parts.scales[part] = static_cast<std::int8_t>(byteAt(block, 192 + part));
}

void takeIQ4_XS(const std::byte* block, PackedParts& parts) {
  const unsigned tops = wordAt(block, 2);
  for (std::size_t part = 0; part < 8; ++part) {
    const std::uint8_t byte = byteAt(block, 4 + part / 2);
    const unsigned low = part % 2 == 0 ? low4(byte) : high4(byte);
    const unsigned high = (tops >> (2 * part)) & 3U;
    parts.scales[part] = static_cast<std::int8_t>(static_cast<int>(low | (high << 4)) - 32);
    takeHalves(block + 8 + part * kHalf, parts.codes + part * kLine);
  }
}

/// The function of the format is a template parameter. A call for each block would cost more than a small
/// block.
template <void (*kTake)(const std::byte* block, PackedParts& parts)>
void takeEach(const BlockColumn& blocks, PackedParts* parts) {
  const auto [first, stride, count] = blocks;
  for (std::int64_t i = 0; i < count; ++i) kTake(first + i * stride, parts[i]);
}

}  // namespace

void takeCodesQ8_0(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeQ8_0>(blocks, parts);
}
void takeCodesQ4_0(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeQ4_0>(blocks, parts);
}
void takeCodesMXFP4(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeMXFP4>(blocks, parts);
}
void takeCodesQ4_1(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeQ4_1>(blocks, parts);
}
void takeCodesQ5_0(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeQ5_0>(blocks, parts);
}
void takeCodesQ5_1(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeQ5_1>(blocks, parts);
}
void takeCodesQ2_K(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeQ2_K>(blocks, parts);
}
void takeCodesQ3_K(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeQ3_K>(blocks, parts);
}
void takeCodesQ4_K(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeQ4_K>(blocks, parts);
}
void takeCodesQ5_K(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeQ5_K>(blocks, parts);
}
void takeCodesQ6_K(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeQ6_K>(blocks, parts);
}
void takeCodesIQ4_XS(const BlockColumn& blocks, PackedParts* parts) {
  takeEach<takeIQ4_XS>(blocks, parts);
}

}  // namespace spanscope::compute
