// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"

#include <cstddef>
#include <optional>
#include <span>

namespace spanscope::model {

/// A number that is none, or infinite.
struct NotFinite {
  std::size_t index = 0;  ///< in elements from the first
  float value = 0;
};

/// The first such number; nothing where all are finite. Reads at about the speed of memory.
std::optional<NotFinite> findNotFinite(const compute::HostMatrix& matrix);
std::optional<NotFinite> findNotFinite(std::span<const float> values);

/// "nan" or "an infinite number".
const char* describe(const NotFinite& found);

}  // namespace spanscope::model
