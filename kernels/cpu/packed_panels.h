// SPDX-License-Identifier: GPL-3.0-or-later
// Defines panels of weights in packed formats, as the kernels read them. Open this file before you change
// kernels for packed formats.
#pragma once

#include "engine/compute/backend.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cpu {

/// A panel of `width` output features has for each block along k:
/// - the factors of all features, in f16, or in bf16 if they are powers of two;
/// - their minima, in f16, if the format has minima;
/// - for each part: the scales and the parts' minima, one byte each, then the codes.
///
/// Codes are in groups of four k. A group has planes, for `half` = width / 2:
/// - Eight bits: [4 k][width] bytes.
/// - Codes of 4, 5 and 6 bits: the lower four bits, [4 k][half] bytes. Byte i has feature i in the lower half
///   and feature i + half in the upper half.
/// - Codes of 2 and 3 bits: the lower two bits. Codes of 6 bits: the upper two bits. Both take [2 pairs of
///   k][half] bytes. The order from the lowest bits: features i and i + half of the first k, then of the
///   second k.
/// - Codes of 3 and 5 bits: the upper bit, [half] bytes. The order from the lowest bit: features i and
///   i + half of each k.
///
/// The first and the second half of a panel's features are one vector each. One load of `half` bytes thus
/// gives the bits of both vectors. Every value has as many bits as in the file, except that scales of six
/// bits take eight.
struct PackedPanelShape {
  std::int64_t width = 0;
  std::int64_t blockElements = 0;
  std::int64_t partElements = 0;
  std::int64_t headBytes = 0;      ///< factors and minima of a block
  std::int64_t partHeadBytes = 0;  ///< scales and minima of a part
  std::int64_t lowBytes = 0;       ///< the lower plane of a group
  std::int64_t groupBytes = 0;     ///< all planes of a group
  std::int64_t partBytes = 0;
  std::int64_t blockBytes = 0;

  std::int64_t panelBytes(std::int64_t columns) const { return columns / blockElements * blockBytes; }
};

inline constexpr std::int64_t kPackedGroup = 4;  ///< number of k that are packed together

/// `width` is even.
PackedPanelShape packedPanelShape(const compute::WeightFormatInfo& info, std::int64_t width);

/// Packs `columns` columns of one panel, from column k on. `k` and `columns` are multiples of the block size.
/// Features beyond the matrix become zeros. `out` has shape.panelBytes(columns) bytes. The panel is at most
/// kMostPanelWidth wide.
void packPanel(const compute::HostMatrix& matrix, const PackedPanelShape& shape, std::int64_t panel,
               std::int64_t k, std::int64_t columns, std::byte* out);

}  // namespace spanscope::cpu
