// SPDX-License-Identifier: GPL-3.0-or-later
// Collects the rotations that the query vectors of a forward pass need. Open this file to change the table of
// rotations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cuda {

/// Appends cosines and sines of the distances first … end − 1 in the layout of Rotations. Angles are distance
/// · frequency in double precision, rounded once. Pairs with frequency 0 are not scaled.
void appendRotations(std::int64_t first, std::int64_t end, std::span<const double> frequencies, double scale,
                     std::vector<float>& table);

/// Cosines and sines of the distances by which the query vectors of a forward pass are rotated. The distances
/// are added in ranges of consecutive distances. Overlapping ranges become one range.
class Rotations {
 public:
  /// Adds the distances first … first + count − 1, as one range.
  void add(std::int64_t first, std::int64_t count);
  /// Call this after the last add(). There is a table of the distances 0 … kept − 1 that outlives the forward
  /// pass. If this table contains all added distances, the rows refer to this table.
  void close(std::int64_t kept = 0);

  /// Returns the number of rows of table(), or 0 if the kept table is used.
  std::int64_t rows() const { return m_rows; }
  /// Returns the number of needed rows of the kept table, or 0 if the kept table is not used.
  std::int64_t keptRows() const { return m_keptRows; }
  /// Returns an offset. A distance plus this offset is the row of the distance in the table. The offset is
  /// the same for the whole range. The distance must have been added.
  std::int64_t offsetOf(std::int64_t distance) const;
  /// Returns [rows][one cosine per frequency, then the sines], times `scale`; see appendRotations(). Empty if
  /// the kept table is used.
  std::vector<float> table(std::span<const double> frequencies, double scale) const;

 private:
  struct Stretch {
    std::int64_t first;
    std::int64_t end;
    std::int64_t row;  ///< row of the first distance in the table
  };
  std::vector<Stretch> m_stretches;
  std::int64_t m_rows = 0;
  std::int64_t m_keptRows = 0;
};

}  // namespace spanscope::cuda
