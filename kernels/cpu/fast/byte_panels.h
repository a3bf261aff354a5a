// SPDX-License-Identifier: GPL-3.0-or-later
// Panels of weights in packed formats for products of bytes.
#pragma once

#include "engine/compute/backend.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cpu {

/// A panel of 32 output features holds, block by block along k: the factors of all features, in f16; their
/// minima, in f16, if the format has any; then, part by part: the scales, one byte each; the parts' minima,
/// one byte each; the planes of codes.
///
/// Four k form a group. A vector of 64 bytes has the four k of each of 16 features; a group has two. A part
/// has, for each group or pair of groups in turn:
/// - of eight bits: both vectors;
/// - of 4, 5 and 6 bits: a vector with the lower four bits: in its lower halves those of the first features,
///   in its upper halves those of the others;
/// - of 2 and 3 bits: for a pair of groups, a vector with two bits each, from the lowest on: of the first
///   group the first features, then the others, then of the second group.
/// Behind those planes, of 6 bits: for each pair of groups a vector with the upper two, as above; of 3 and 5
/// bits: for four groups a vector with the upper one of each, from the lowest on in the same order.
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

/// Packs `columns` columns of one panel from k on, both whole blocks; features beyond the matrix become
/// zeros. `out` has shape.panelBytes(columns) bytes.
void packBytePanel(const compute::HostMatrix& matrix, const BytePanelShape& shape, std::int64_t panel,
                   std::int64_t k, std::int64_t columns, std::byte* out);

}  // namespace spanscope::cpu
