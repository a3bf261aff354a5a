// SPDX-License-Identifier: GPL-3.0-or-later
// Defines panels of packed weights for products of bytes. Open this file before you change the byte kernels.
#pragma once

#include "engine/compute/backend.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cpu {

/// A panel of 32 output features has for each block along k:
/// - the factors of all features, in f16;
/// - their minima, in f16, if the format has minima;
/// - for each part: the scales and the parts' minima, one byte each, then the planes of codes.
///
/// Four k form a group. A vector of 64 bytes has the four k of each of 16 features, and a group has two
/// vectors. A part has for each group or pair of groups in turn:
/// - Eight bits: both vectors.
/// - 4, 5 and 6 bits: a vector with the lower four bits. The lower halves belong to the first features, and
///   the upper halves belong to the others.
/// - 2 and 3 bits, for a pair of groups: a vector with two bits each. The order from the lowest bits is: the
///   first features of the first group, the others, then the second group.
///
/// More planes follow. For 6 bits, each pair of groups has a vector with the upper two bits, in the same
/// order. For 3 and 5 bits, four groups have a vector with the upper bit of each. The order is the same, from
/// the lowest bit on.
struct BytePanelShape {
  static constexpr std::int64_t kWidth = 32;
  static constexpr std::int64_t kGroup = 4;
  static constexpr std::int64_t kVector = 64;

  std::int64_t blockElements = 0;
  std::int64_t partElements = 0;
  std::int64_t headBytes = 0;      ///< factors and minima of a block
  std::int64_t partHeadBytes = 0;  ///< scales and minima of a part
  std::int64_t lowBytes = 0;       ///< the lower planes of a part
  std::int64_t partBytes = 0;
  std::int64_t blockBytes = 0;

  std::int64_t groups() const { return partElements / kGroup; }
  std::int64_t parts() const { return blockElements / partElements; }
  std::int64_t panelBytes(std::int64_t columns) const { return columns / blockElements * blockBytes; }
};

BytePanelShape bytePanelShape(const compute::WeightFormatInfo& info);

/// Packs `columns` columns of one panel from k on, both whole blocks. Features beyond the matrix become
/// zeros. `out` has shape.panelBytes(columns) bytes.
void packBytePanel(const compute::HostMatrix& matrix, const BytePanelShape& shape, std::int64_t panel,
                   std::int64_t k, std::int64_t columns, std::byte* out);

}  // namespace spanscope::cpu
