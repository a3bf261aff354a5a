// SPDX-License-Identifier: GPL-3.0-or-later
// Random test data that is the same on every machine for a given seed.
#pragma once

#include "engine/compute/backend.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::testing {

/// The seed in the environment variable SPANSCOPE_TEST_SEED, else `fallback`. A test that uses it should
/// print it.
std::uint64_t testSeed(std::uint64_t fallback);

/// A small generator (SplitMix64: Steele, Lea, Flood 2014). It is needed because the standard distributions
/// differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : m_state(seed) {}

  std::uint64_t next();
  /// Uniform in 0 … bound − 1; `bound` > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  /// Uniform in low … high, both included.
  std::int64_t between(std::int64_t low, std::int64_t high);
  /// Uniform in [0, 1).
  double uniform();
  /// Normal with mean 0 and variance 1.
  double normal();

 private:
  std::uint64_t m_state;
};

/// `count` normal values times `scale`.
std::vector<float> randomValues(Random& random, std::size_t count, double scale = 1.0);

/// A weight in host memory that owns its bytes. It can be moved; its view moves along.
class HostWeight {
 public:
  /// Rounds `values`, row-major [rows][columns], to `type`. The data starts `misalignment` bytes after an
  /// aligned address.
  HostWeight(const std::vector<float>& values, std::int64_t rows, std::int64_t columns, compute::DType type,
             std::size_t misalignment = 0);
  /// Random blocks of a packed format, whose factors are finite. `columns` is a whole number of blocks.
  HostWeight(Random& random, std::int64_t rows, std::int64_t columns, compute::WeightFormat format,
             std::size_t misalignment = 0);

  /// Sets every byte of a packed format that is not of a block's factor or minimum.
  void fillCodes(std::byte byte);

  compute::HostMatrix view() const;
  /// The values after rounding.
  std::vector<float> values() const;

 private:
  std::vector<std::byte> m_bytes;
  std::size_t m_offset;
  std::int64_t m_rows;
  std::int64_t m_columns;
  compute::WeightFormat m_format;
};

/// Random blocks of a packed format, as many as fill `bytes`. Factors and minima are less than 2.
void fillBlocks(Random& random, const compute::WeightFormatInfo& info, std::span<std::byte> bytes);

/// A weight of normal values times `scale`.
HostWeight randomWeight(Random& random, std::int64_t rows, std::int64_t columns, compute::DType type,
                        double scale = 1.0, std::size_t misalignment = 0);
/// The same; for a packed format, random blocks.
HostWeight randomWeight(Random& random, std::int64_t rows, std::int64_t columns, compute::WeightFormat format,
                        double scale = 1.0, std::size_t misalignment = 0);

}  // namespace spanscope::testing
