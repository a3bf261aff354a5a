// SPDX-License-Identifier: GPL-3.0-or-later
// Contains the one table of weight formats. Kernels take its rules as constants. Open this file to add a
// packed format.
#pragma once

#include "engine/compute/weight_format/weight_format.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace spanscope::compute {

// The places of scales, minima and codes in the blocks of each packed format. Numbers are little-endian.

/// The values of the codes of IQ4_NL and IQ4_XS.
inline constexpr std::array<std::int8_t, 16> kNonLinearValues = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                                 1,    13,   25,  38,  53,  69,  89,  113};

// Blocks of 32 elements.
void takeCodesQ8_0(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ4_0(const BlockColumn& blocks, PackedParts* parts);  ///< and IQ4_NL
void takeCodesQ4_1(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ5_0(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ5_1(const BlockColumn& blocks, PackedParts* parts);

// Blocks of 256 elements.
void takeCodesQ2_K(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ3_K(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ4_K(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ5_K(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ6_K(const BlockColumn& blocks, PackedParts* parts);
void takeCodesIQ4_XS(const BlockColumn& blocks, PackedParts* parts);

inline constexpr std::int32_t kSmallBlock = 32;
inline constexpr std::int32_t kLargeBlock = 256;

constexpr WeightFormatInfo plainFormat(WeightFormat format, const char* name, std::uint32_t type,
                                       std::int32_t bytes) {
  return {.format = format, .name = name, .ggufType = type, .blockElements = 1, .blockBytes = bytes};
}

/// In the order of the enumeration.
inline constexpr std::array<WeightFormatInfo, 15> kWeightFormats = {{
    plainFormat(WeightFormat::F32, "F32", 0, 4),
    plainFormat(WeightFormat::F16, "F16", 1, 2),
    plainFormat(WeightFormat::BF16, "BF16", 30, 2),
    {.format = WeightFormat::Q8_0,
     .name = "Q8_0",
     .ggufType = 8,
     .blockElements = kSmallBlock,
     .blockBytes = 34,
     .rule = {.bits = 8, .offset = 128},
     .factorAt = 0,
     .takeCodes = &takeCodesQ8_0},
    {.format = WeightFormat::Q4_0,
     .name = "Q4_0",
     .ggufType = 2,
     .blockElements = kSmallBlock,
     .blockBytes = 18,
     .rule = {.bits = 4, .offset = 8},
     .factorAt = 0,
     .takeCodes = &takeCodesQ4_0},
    {.format = WeightFormat::Q4_1,
     .name = "Q4_1",
     .ggufType = 3,
     .blockElements = kSmallBlock,
     .blockBytes = 20,
     .rule = {.bits = 4, .hasMinimum = true},
     .factorAt = 0,
     .minimumAt = 2,
     .takeCodes = &takeCodesQ4_1},
    {.format = WeightFormat::Q5_0,
     .name = "Q5_0",
     .ggufType = 6,
     .blockElements = kSmallBlock,
     .blockBytes = 22,
     .rule = {.bits = 5, .offset = 16},
     .factorAt = 0,
     .takeCodes = &takeCodesQ5_0},
    {.format = WeightFormat::Q5_1,
     .name = "Q5_1",
     .ggufType = 7,
     .blockElements = kSmallBlock,
     .blockBytes = 24,
     .rule = {.bits = 5, .hasMinimum = true},
     .factorAt = 0,
     .minimumAt = 2,
     .takeCodes = &takeCodesQ5_1},
    {.format = WeightFormat::Q2_K,
     .name = "Q2_K",
     .ggufType = 10,
     .blockElements = kLargeBlock,
     .blockBytes = 84,
     .rule = {.bits = 2, .partElements = 16, .hasScales = true, .hasMinimum = true, .hasMinima = true},
     .factorAt = 80,
     .minimumAt = 82,
     .takeCodes = &takeCodesQ2_K},
    {.format = WeightFormat::Q3_K,
     .name = "Q3_K",
     .ggufType = 11,
     .blockElements = kLargeBlock,
     .blockBytes = 110,
     .rule = {.bits = 3, .partElements = 16, .offset = 4, .hasScales = true},
     .factorAt = 108,
     .takeCodes = &takeCodesQ3_K},
    {.format = WeightFormat::Q4_K,
     .name = "Q4_K",
     .ggufType = 12,
     .blockElements = kLargeBlock,
     .blockBytes = 144,
     .rule = {.bits = 4, .hasScales = true, .hasMinimum = true, .hasMinima = true},
     .factorAt = 0,
     .minimumAt = 2,
     .takeCodes = &takeCodesQ4_K},
    {.format = WeightFormat::Q5_K,
     .name = "Q5_K",
     .ggufType = 13,
     .blockElements = kLargeBlock,
     .blockBytes = 176,
     .rule = {.bits = 5, .hasScales = true, .hasMinimum = true, .hasMinima = true},
     .factorAt = 0,
     .minimumAt = 2,
     .takeCodes = &takeCodesQ5_K},
    {.format = WeightFormat::Q6_K,
     .name = "Q6_K",
     .ggufType = 14,
     .blockElements = kLargeBlock,
     .blockBytes = 210,
     .rule = {.bits = 6, .partElements = 16, .offset = 32, .hasScales = true},
     .factorAt = 208,
     .takeCodes = &takeCodesQ6_K},
    {.format = WeightFormat::IQ4_NL,
     .name = "IQ4_NL",
     .ggufType = 20,
     .blockElements = kSmallBlock,
     .blockBytes = 18,
     .rule = {.bits = 4, .hasTable = true, .table = kNonLinearValues},
     .factorAt = 0,
     .takeCodes = &takeCodesQ4_0},
    {.format = WeightFormat::IQ4_XS,
     .name = "IQ4_XS",
     .ggufType = 23,
     .blockElements = kLargeBlock,
     .blockBytes = 136,
     .rule = {.bits = 4, .hasTable = true, .table = kNonLinearValues, .hasScales = true},
     .factorAt = 0,
     .takeCodes = &takeCodesIQ4_XS},
}};

}  // namespace spanscope::compute
