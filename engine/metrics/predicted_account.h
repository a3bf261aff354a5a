// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the predicted token account of a prompt. Each count is exact or has bounds. Open this file to add a
// predicted count.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace spanscope::metrics {

/// A count: exact, or with bounds.
struct CountRange {
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

  std::int64_t least = 0;
  std::int64_t most = 0;  ///< kUnbounded: there is no upper bound
  bool bounded() const { return most != kUnbounded; }
  bool known() const { return least == most; }
  bool holds(std::int64_t count) const { return least <= count && count <= most; }
  CountRange& operator+=(const CountRange& other) {
    least += other.least;
    most = bounded() && other.bounded() ? most + other.most : kUnbounded;
    return *this;
  }
  bool operator==(const CountRange&) const = default;
};

/// The predicted account of one prompt, or of several. TokenAccount has the same counts after the run.
struct PredictedAccount {
  CountRange prompt;  ///< visible tokens
  CountRange cached;  ///< cache hits that are not recomputed
  CountRange relocated;
  CountRange again;  ///< cache hits that are recomputed
  CountRange computed;
  CountRange beside;
  std::optional<std::int64_t> padded = 0;   ///< absent: the lengths of answers decide it
  std::optional<std::int64_t> cropped = 0;  ///< absent: the lengths of answers decide it
  CountRange evicted{};                     ///< blocks
  PredictedAccount& operator+=(const PredictedAccount& other);
  bool operator==(const PredictedAccount&) const = default;
};

}  // namespace spanscope::metrics
