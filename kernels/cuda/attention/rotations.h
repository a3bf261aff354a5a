// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cuda {

/// Appends cosines and sines of distances first … end − 1, as Rotations lays them out: angles are distance ·
/// frequency in double precision, rounded once.
void appendRotations(std::int64_t first, std::int64_t end, std::span<const double> frequencies, double scale,
                     std::vector<float>& table);

/// Cosines and sines of the distances that the queries of a pass turn by: those of a stretch of distances lie
/// one after the other, and stretches that overlap are one.
class Rotations {
 public:
  /// Distances first … first + count − 1 will be asked for, as one stretch.
  void add(std::int64_t first, std::int64_t count);
  /// Nothing is added afterwards. There is a table of distances 0 … kept − 1 that outlives the pass: if it
  /// has all that was added, rows are those of it.
  void close(std::int64_t kept = 0);

  /// Of the table below.
  std::int64_t rows() const { return m_rows; }
  /// How many rows are read of the one that is kept; 0 if it is not.
  std::int64_t keptRows() const { return m_keptRows; }
  /// What added to a distance gives its row in the table. Holds for the whole stretch of the distance, which
  /// was added.
  std::int64_t offsetOf(std::int64_t distance) const;
  /// [rows][as many cosines as frequencies, then sines], times `scale`; empty where the other one is read.
  std::vector<float> table(std::span<const double> frequencies, double scale) const;

 private:
  struct Stretch {
    std::int64_t first;
    std::int64_t end;
    std::int64_t row;  ///< of the first, in the table
  };
  std::vector<Stretch> m_stretches;
  std::int64_t m_rows = 0;
  std::int64_t m_keptRows = 0;
};

}  // namespace spanscope::cuda
