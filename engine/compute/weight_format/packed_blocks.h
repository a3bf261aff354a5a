// SPDX-License-Identifier: GPL-3.0-or-later
// Where scales, minima and codes stand in the blocks of each packed format. Numbers are little-endian.
#pragma once

#include "engine/compute/weight_format/weight_format.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace spanscope::compute {

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

}  // namespace spanscope::compute
