// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"

#include <cstddef>
#include <optional>
#include <span>

namespace spanscope::model {

/// The place of a NaN or an infinite number in a matrix.
struct NotFinite {
  std::size_t index = 0;  ///< number of elements before it
  float value = 0;
};

/// The first number that is not finite; nothing if all are finite. The search runs at about the speed of
/// memory.
std::optional<NotFinite> findNotFinite(const compute::HostMatrix& matrix);
std::optional<NotFinite> findNotFinite(std::span<const float> values);

/// Returns "nan" or "an infinite number".
const char* describe(const NotFinite& found);

}  // namespace spanscope::model
