// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cuda {

/// Cosines and sines of the distances that the queries of a pass turn by: those of a stretch of distances lie
/// one after the other, and stretches that overlap are one.
class Rotations {
 public:
  /// Distances first … first + count − 1 will be asked for.
  void add(std::int64_t first, std::int64_t count);
  /// Nothing is added afterwards.
  void close();

  std::int64_t rows() const { return m_rows; }
  /// What added to a distance gives its row in the table. Holds for the whole stretch of the distance, which
  /// was added.
  std::int64_t offsetOf(std::int64_t distance) const;
  /// [rows][as many cosines as frequencies, then sines], times `scale`. Angles are distance · frequency in
  /// double precision, rounded once.
  std::vector<float> table(std::span<const double> frequencies, double scale) const;

 private:
  struct Stretch {
    std::int64_t first;
    std::int64_t end;
    std::int64_t row;  ///< of the first, in the table
  };
  std::vector<Stretch> m_stretches;
  std::int64_t m_rows = 0;
};

}  // namespace spanscope::cuda
