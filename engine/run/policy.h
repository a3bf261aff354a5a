// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/layout/layout.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace spanscope::run {

/// How far a run departs from a full prefill.
enum class Policy : std::uint8_t {
  Prefix,  ///< stock server: one segment, longest-prefix reuse
  Spans    ///< block attention: independent segments, dependent tail
};

const char* policyName(Policy policy);  ///< "prefix", "spans"
std::optional<Policy> parsePolicy(std::string_view name);
layout::Visibility visibilityOf(Policy policy);
/// What its result is exact against, as a person reads it: "full prefill ✓" or "block attention ✓ · full
/// prefill ≈".
const char* exactness(Policy policy);

}  // namespace spanscope::run
